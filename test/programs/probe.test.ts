/** tools/kubernetes/programs/probe: what programs on client-go and controller-runtime rely on, on both servers. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { programs } from "./programs.ts";
import { execute } from "./run.ts";
import { servers, startServer, type Server } from "./servers.ts";

const { probe } = programs();
const minutes = 60_000;

/** Checks that one server alone is held to. */
const except: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "kube-apiserver": {
    "a certificate request by client-go's own helper, approved, and the certificate used":
      "kube-controller-manager signs, and none runs here",
  },
};

describe("the probe", () => {
  if ("reason" in probe) {
    test.skip(`programs on client-go and controller-runtime (${probe.reason})`);
    return;
  }
  const file = join(probe.dir, "probe");
  for (const { name, missing } of servers())
    describe(`on ${name}`, () => {
      if (missing !== undefined) test.skip(`all (${missing})`);
      else runProbe(file, name);
    });
});

function runProbe(file: string, name: Server["name"]): void {
  let server: Server | undefined;
  let said: readonly string[] = [];
  const groups = [{ args: [] }, { args: ["-group", "informers"], env: { KUBE_FEATURE_WatchListClient: "true" } }];

  beforeAll(async () => {
    server = await startServer(name);
    for (const { args, env = {} } of groups) {
      const all = ["-kubeconfig", server.kubeconfig, ...args];
      const { stdout } = await execute(file, all, { env, timeout: 10 * minutes });
      said = [...said, ...stdout.trimEnd().split("\n")];
    }
  }, 11 * minutes);
  afterAll(() => server?.close());

  for (const { args, env = {} } of groups) {
    const list = spawnSync(file, ["-list", ...args], { encoding: "utf8", env: { ...process.env, ...env } });
    for (const check of list.stdout.trimEnd().split("\n")) {
      const reason = except[name]?.[check];
      if (reason !== undefined) test.skip(`${check} (${reason})`);
      else
        test(check, () => {
          const line = said.find((l) => l.startsWith(`ok ${check}`) || l.startsWith(`FAILED ${check}`));
          expect(line ?? "not run").toMatch(/^ok /);
        });
    }
  }
}
