import type { AddonSet } from "@causeway/api";
import { expect, test } from "vitest";
import { kubeProxyOf } from "./kube-proxy.ts";

const condition = (type: string, status: string, message = "") => ({ type, status, message });
const setOf = (generation: number, observedGeneration: number | undefined, conditions: readonly object[]) =>
  ({ metadata: { name: "web-1-addons", generation }, status: { observedGeneration, conditions } }) as AddonSet;
const applied = condition("Applied", "True");
const unseen = "its controller has not seen it yet";

test.for<[string, AddonSet | undefined, readonly (string | undefined)[]]>([
  ["an AddonSet that is not there", undefined, [unseen, unseen]],
  ["an AddonSet that no controller has seen", setOf(1, undefined, []), [unseen, unseen]],
  [
    "an AddonSet whose status is that of an older spec",
    setOf(2, 1, [applied, condition("Healthy", "True")]),
    [unseen, unseen],
  ],
  [
    "an AddonSet that is applied and does not work",
    setOf(1, 1, [applied, condition("Healthy", "False", "kube-proxy: image is not pulled")]),
    [undefined, "kube-proxy: image is not pulled"],
  ],
  ["an AddonSet that works", setOf(1, 1, [applied, condition("Healthy", "True")]), [undefined, undefined]],
])("%s is reported as such", ([, set, expected]) => {
  const { unapplied, unhealthy } = kubeProxyOf(set);
  expect([unapplied, unhealthy]).toEqual(expected);
});
