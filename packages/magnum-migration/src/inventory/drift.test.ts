import { describe, expect, test } from "vitest";
import { driftOf } from "./drift.ts";
import type { ClusterFacts } from "./read.ts";

const heat = {
  number_of_masters: "1",
  number_of_minions: "2",
  minion_flavor: "m1.small",
  minion_image: "fcos",
  kube_tag: "v1.34.0",
};
const facts = {
  cluster: { stack_id: "st", labels: { kube_tag: "v1.34.0", own: "x" }, flavor_id: "m1.small" },
  template: { labels: { kube_tag: "v1.34.0" }, flavor_id: "m1.small", image_id: "fcos", docker_volume_size: null },
  groups: [
    { name: "default-master", role: "master", node_count: 1 },
    {
      name: "default-worker",
      role: "worker",
      is_default: true,
      node_count: 2,
      flavor_id: "m1.small",
      image_id: "fcos",
    },
    { name: "big", role: "worker", stack_id: "other", node_count: 1, image_id: "fcos" },
  ],
  stacks: [{ id: "st", parameters: heat }, { id: "other" }],
};
const drift = (more: object) => driftOf({ ...facts, ...more } as unknown as ClusterFacts);
const stacksWith = (more: object) => ({ stacks: [{ id: "st", parameters: { ...heat, ...more } }] });

describe("the drift of a running cluster", () => {
  test.each<[string, object, readonly string[]]>([
    ["is none where Magnum, the template and Heat say the same, and labels of one's own are none", {}, []],
    [
      "names labels that the template has otherwise, and those that the cluster lacks",
      { template: { labels: { kube_tag: "v1.33.1", calico_tag: "v3" } } },
      ["label calico_tag is not set (template: v3)", "label kube_tag is v1.34.0 (template: v1.33.1)"],
    ],
    [
      "names the flavor and the image of the template",
      { template: { flavor_id: "m1.large", image_id: "newer" } },
      ["flavor_id is m1.small (template: m1.large)", "image_id is fcos (template: newer)"],
    ],
    [
      "names what Heat built with other values, each with its node group",
      stacksWith({ number_of_minions: "5", minion_flavor: "m1.tiny", minion_image: "older", number_of_masters: 3 }),
      [
        "node_count of node group default-master is 1 (Heat's number_of_masters: 3)",
        "node_count of node group default-worker is 2 (Heat's number_of_minions: 5)",
        "flavor_id of node group default-worker is m1.small (Heat's minion_flavor: m1.tiny)",
        "image_id of node group default-worker is fcos (Heat's minion_image: older)",
      ],
    ],
    [
      "names another version in Heat once for each node group of the stack",
      stacksWith({ kube_tag: "v1.33.0" }),
      ["master", "worker"].map(
        (kind) => `label kube_tag of node group default-${kind} is v1.34.0 (Heat's kube_tag: v1.33.0)`,
      ),
    ],
  ])("%s", (_, more, said) => expect(drift(more)).toEqual(said));
});
