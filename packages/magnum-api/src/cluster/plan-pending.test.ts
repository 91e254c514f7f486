import { expect, it } from "vitest";
import { at, NOW, settled } from "../testing/observed.ts";
import { pendingAnnotation } from "./names.ts";
import { plan } from "./plan.ts";

const nothing = { cluster: undefined, machines: [], servers: [], standing: [], deployments: [] };
const annotations = { [pendingAnnotation]: "" };

it.each<[string, object, readonly string[]]>([
  ["made", { creationTimestamp: at(-1) }, []],
  ["too old", { creationTimestamp: at(-3) }, ["discard-row"]],
  ["being deleted", { deletionTimestamp: at(0) }, ["revoke-credential", "remove-finalizer"]],
])("of a row that no client has seen and that is %s the plan does no more than needed", (_, metadata, expected) => {
  const { steps } = plan({ ...settled({ metadata: { ...metadata, annotations } }), ...nothing }, NOW);
  expect(steps.map(({ type }) => type)).toEqual(expected);
});
