import type { KubeObject } from "@causeway/kubernetes";
import { expect, it } from "vitest";
import { growthOf, LINEAR } from "../testing/growth.ts";
import { definitionProblems } from "./rules.ts";

const definition = (versions: readonly object[]): KubeObject =>
  ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.x.io" },
    spec: { group: "x.io", scope: "Namespaced", names: { plural: "things", kind: "Thing" }, versions },
  }) as unknown as KubeObject;

it("validation of a CRD takes time linear in its versions", () => {
  const versions = (count: number): KubeObject =>
    definition(Array.from({ length: count }, () => ({ schema: { openAPIV3Schema: { type: "object" } } })));
  expect(growthOf(versions, (object) => definitionProblems(object, undefined), 100)).toBeLessThan(LINEAR);
  expect(definitionProblems(versions(3), undefined).map(({ field }) => field)).toContain("spec.versions[2].name");
});
