/** `causeway doctor` on a real OpenStack: it reads, and finds what the packages of the cloud are known to have. */
import { expect, test } from "vitest";
import { causeway } from "../support/processes.ts";

interface Report {
  readonly findings: readonly { readonly feature: string; readonly state: string }[];
}

test("the doctor finds a cloud that can carry a cluster, with OVN's limits", { timeout: 600_000 }, async () => {
  const run = causeway(["doctor", "--cloud", process.env["OS_CLOUD"] ?? "devcloud", "-o", "json"]);
  expect(await run.ended).toBe(0);
  const { findings } = JSON.parse(run.output()) as Report;
  const state = (feature: string) => findings.find((finding) => finding.feature === feature)?.state;
  expect(state("load-balancer")).toBe("works");
  expect(state("health monitors (ovn)")).toBe("works");
  expect(state("source ranges (ovn)")).toBe("limited");
  expect(state("clocks")).toBe("works");
  expect(findings.filter((finding) => finding.state === "broken")).toEqual([]);
});
