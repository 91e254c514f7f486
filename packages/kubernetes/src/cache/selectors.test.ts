import { expect, test } from "vitest";
import { fieldPredicate, labelPredicate } from "./selectors.ts";

const object = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "a", namespace: "n", labels: { app: "web", tier: "front" } },
  type: "Opaque",
  spec: { nodeName: "node-1", unschedulable: true },
};

test.each<[string, boolean]>([
  ["", true],
  ["app", true],
  ["!app", false],
  ["!role", true],
  ["app=web", true],
  ["app==web,tier=front", true],
  ["app=web,tier=back", false],
  ["app!=web", false],
  ["role!=db", true],
  ["app in (web, api),tier notin (back)", true],
  ["app in (api)", false],
  ["role notin (db)", true],
  ["role in (db)", false],
])("the label selector %j selects the object: %s", (selector, selects) => {
  expect(labelPredicate(selector)(object)).toBe(selects);
});

test.each<[string, boolean]>([
  ["", true],
  ["metadata.name=a", true],
  ["metadata.name=b", false],
  ["type=Opaque,metadata.namespace=n", true],
  ["type!=Opaque", false],
  ["spec.nodeName=node-1", true],
  ["spec.unschedulable=true", true],
  ["status.phase=", true],
  ["status.phase!=Running", true],
])("the field selector %j selects the object: %s", (selector, selects) => {
  expect(fieldPredicate(selector)(object)).toBe(selects);
});
