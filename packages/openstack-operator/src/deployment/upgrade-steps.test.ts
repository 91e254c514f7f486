import type { OpenStackDeployment } from "@causeway/api";
import type { Deployment, KubeObject } from "@causeway/kubernetes";
import { describe, expect, test } from "vitest";
import { annotations } from "../model/names.ts";
import { desire } from "../testing/rendered.ts";
import type { Judged } from "./components.ts";
import { isUnpinned, stepsOf, upgradeOf } from "./upgrade.ts";

const { catalogue } = desire({}, "2024.1");
const NOVA = ["nova-super-conductor", "nova-conductor", "nova-scheduler", "nova-api", "nova-metadata"];

/** All components are done but these. */
const judgedWithout = (...open: readonly string[]): ReadonlyMap<string, Judged> =>
  new Map(
    catalogue.components.map((component): [string, Judged] => [
      component.name,
      {
        component,
        readiness: { state: open.includes(component.name) ? "Progressing" : "Ready", step: "" },
        writes: [],
        unmet: [],
      },
    ]),
  );

const conductor = (messages: string): ReadonlyMap<string, KubeObject> => {
  const object = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "cloud-nova-conductor" },
    spec: { template: { metadata: { annotations: { [annotations.messages]: messages } } } },
  };
  return new Map([["Deployment/cloud-nova-conductor", object as unknown as Deployment]]);
};

describe("the limit to messages of the older release", () => {
  test.each([
    ["remains while a compute node is not updated", ["nova-compute"], "2024.1", false],
    ["is lifted once all are", [], "2024.1", true],
    ["does not come back when a compute node fails after that", ["nova-compute"], "2025.1", true],
  ])("%s", (_, open, messages, lifted) => {
    expect(isUnpinned("2025.1", judgedWithout(...open), conductor(messages))).toBe(lifted);
  });
});

describe("the steps of an upgrade", () => {
  const openSteps = (open: readonly string[], isLifted: boolean): string[] =>
    stepsOf({ judged: judgedWithout(...open), isUnpinned: isLifted })
      .filter(({ isOver }) => !isOver)
      .map(({ name }) => name);

  test.each([
    ["placement-api", ["PlacementUpdated", "ControlPlaneUpdated", "NovaMessagesUnpinned"]],
    ["nova-db-sync", ["NovaApiSchemaExpanded", "SchemasExpanded", "NovaMessagesUnpinned"]],
    ["nova-cell-sync", ["NovaCellSchemasExpanded", "SchemasExpanded", "NovaMessagesUnpinned"]],
    ["nova-super-conductor", ["NovaConductorsUpdated", "ControlPlaneUpdated", "NovaMessagesUnpinned"]],
    ["nova-scheduler", ["NovaSchedulerUpdated", "ControlPlaneUpdated", "NovaMessagesUnpinned"]],
    ["nova-api", ["NovaApiUpdated", "ControlPlaneUpdated", "NovaMessagesUnpinned"]],
    ["nova-compute", ["ComputeNodesUpdated", "NovaMessagesUnpinned"]],
  ])("wait for %s while the limit to messages holds", (component, steps) => {
    expect(openSteps([component], false)).toEqual(steps);
  });

  test("that were over remain so while Nova's processes start again without the limit", () => {
    expect(openSteps(NOVA, true)).toEqual(["NovaMessagesUnpinned"]);
    expect(openSteps(["cinder-api"], true)).toEqual(["ControlPlaneUpdated"]);
    expect(openSteps([], true)).toEqual([]);
  });

  test("are those of the services that there are, and the first open one is in the status", () => {
    const judged = new Map(
      [...judgedWithout("glance-api")].filter(([, { component }]) => component.service === "glance"),
    );
    const progress = { judged, isUnpinned: false };
    expect(stepsOf(progress).map(({ name }) => name)).toEqual([
      "UpgradeChecked",
      "SchemasExpanded",
      "ControlPlaneUpdated",
      "SchemasContracted",
    ]);
    const deployment = { spec: { release: "2025.1" }, status: { release: "2024.1" } } as OpenStackDeployment;
    expect(upgradeOf(deployment)?.status(progress, 0)).toMatchObject({
      from: "2024.1",
      to: "2025.1",
      step: "ControlPlaneUpdated",
      done: ["UpgradeChecked", "SchemasExpanded", "SchemasContracted"],
    });
  });
});
