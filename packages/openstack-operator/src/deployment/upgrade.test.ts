import type { OpenStackDeployment, OpenStackRelease } from "@causeway/api";
import { describe, expect, test } from "vitest";
import type { Component } from "../model/component.ts";
import type { Judged } from "./components.ts";
import type { Observed } from "./gather.ts";
import { lacksRowsAtMost, oneUpgradeAtATime } from "./upgrade.ts";

interface Given {
  readonly runs?: string;
  readonly wants: OpenStackRelease;
  readonly under?: { readonly from: string; readonly to: string };
}

/** The release that is planned with, and the condition about it. */
function plannedWith({ runs, wants, under }: Given) {
  const status = { ...(runs === undefined ? {} : { release: runs }), ...(under ? { upgrade: under } : {}) };
  const deployment = { metadata: { name: "cloud" }, spec: { release: wants }, status } as OpenStackDeployment;
  let release = "";
  const { status: after } = oneUpgradeAtATime({ deployment } as Observed, 0, (observed) => {
    ({ release } = observed.deployment.spec);
    return { steps: [], status: {} };
  });
  return { release, held: after.conditions?.find(({ type }) => type === "UpgradeHeld")?.status };
}

describe("a deployment", () => {
  test.each([
    ["that is installed has its release", { wants: "2024.1" }, "2024.1", undefined],
    ["that is not upgraded has its release", { runs: "2024.1", wants: "2024.1" }, "2024.1", undefined],
    ["is upgraded to the next release", { runs: "2022.2", wants: "2023.1" }, "2023.1", undefined],
    ["is upgraded from one SLURP release to the next", { runs: "2023.1", wants: "2024.1" }, "2024.1", undefined],
    ["that was raised twice is upgraded twice", { runs: "2022.2", wants: "2023.2" }, "2023.1", "True"],
    ["does not skip from a release that is none of SLURP", { runs: "2023.2", wants: "2024.2" }, "2024.1", "True"],
    [
      "ends the upgrade that was begun",
      { runs: "2023.1", wants: "2024.1", under: { from: "2023.1", to: "2023.2" } },
      "2023.2",
      "True",
    ],
    [
      "begins the next one when that is over",
      { runs: "2023.2", wants: "2024.1", under: { from: "2023.1", to: "2023.2" } },
      "2024.1",
      undefined,
    ],
    [
      "of a release that this program does not know is left alone",
      { runs: "2021.1", wants: "2024.1" },
      "2024.1",
      undefined,
    ],
  ] as const)("%s", (_, given, release, held) => {
    expect(plannedWith(given)).toEqual({ release, held });
  });
});

const judged = (name: string, state: "Ready" | "Failed" | "Progressing"): [string, Judged] => [
  name,
  { component: { name, kind: "Job" } as Component, readiness: { state, step: "" }, writes: [], unmet: [] },
];

test.each([
  ["a failed migration of rows", [judged("nova-online-migrations", "Failed")], true],
  ["one that runs", [judged("nova-online-migrations", "Progressing")], false],
  [
    "a failed contraction as well",
    [judged("nova-online-migrations", "Failed"), judged("glance-contract", "Failed")],
    false,
  ],
  ["nothing", [judged("glance-contract", "Ready")], true],
] as const)("an upgrade that lacks %s: whether rows are the most that it lacks", (_, all, isSo) => {
  expect(lacksRowsAtMost(new Map(all))).toBe(isSo);
});
