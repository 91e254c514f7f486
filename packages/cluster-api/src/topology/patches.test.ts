import { describe, expect, test } from "vitest";
import type { ClusterClass } from "@causeway/api";
import type { ProviderObject } from "../contract/provider-object.ts";
import type { Fields } from "../gotemplate/values.ts";
import { patchedTemplate, variableAt, type Holder } from "./patches.ts";

type Patch = NonNullable<ClusterClass["spec"]["patches"]>[number];
type Definition = NonNullable<Patch["definitions"]>[number];

const template: ProviderObject = {
  apiVersion: "infrastructure.cluster.x-k8s.io/v1beta1",
  kind: "OpenStackMachineTemplate",
  metadata: { name: "machine" },
  spec: { template: { spec: { image: { imageRef: { name: "node" } }, tags: ["a", "b"] } } },
};
const variables: Fields = {
  imageName: "ubuntu",
  size: 3,
  list: ["x"],
  off: false,
  builtin: { machineDeployment: { version: "v1.34.0", class: "default-worker" } },
};
const worker: Holder = { type: "machineDeployment", class: "default-worker" };
const select = (matchResources: Definition["selector"]["matchResources"]): Definition["selector"] => ({
  apiVersion: template.apiVersion,
  kind: template.kind,
  matchResources,
});
const workers = select({ machineDeploymentClass: { names: ["default-worker"] } });
const patch = (jsonPatches: Definition["jsonPatches"], more: Partial<Patch> = {}, selector = workers): Patch => ({
  name: "p",
  definitions: [{ selector, jsonPatches }],
  ...more,
});
const image = "/spec/template/spec/image";
const result = (patches: Patch[], holder = worker) =>
  (patchedTemplate({ patches, template, holder, variables }).spec as { template: { spec: unknown } }).template.spec;

describe("a patch of a ClusterClass", () => {
  test.each<readonly [string, Patch, unknown]>([
    ["adds a value", patch([{ op: "add", path: "/spec/template/spec/flavor", value: "m1" }]), { flavor: "m1" }],
    [
      "adds the value of a variable",
      patch([{ op: "add", path: "/spec/template/spec/size", valueFrom: { variable: "size" } }]),
      { size: 3 },
    ],
    [
      "renders YAML",
      patch([
        {
          op: "add",
          path: `${image}/filter`,
          valueFrom: { template: "name: {{ .imageName }}-{{ .builtin.machineDeployment.version }}\n" },
        },
      ]),
      { image: { imageRef: { name: "node" }, filter: { name: "ubuntu-v1.34.0" } } },
    ],
    [
      "removes and replaces",
      patch([
        { op: "remove", path: `${image}/imageRef` },
        { op: "replace", path: "/spec/template/spec/tags/0", value: "z" },
      ]),
      { image: {}, tags: ["z", "b"] },
    ],
    [
      "adds to a list at a place and at its end",
      patch([
        { op: "add", path: "/spec/template/spec/tags/0", value: "z" },
        { op: "add", path: "/spec/template/spec/tags/-", valueFrom: { variable: "list[0]" } },
      ]),
      { tags: ["z", "a", "b", "x"] },
    ],
    ["does nothing if it is not enabled", patch([{ op: "remove", path: image }], { enabledIf: "{{ .off }}" }), {}],
    [
      "does something if it is",
      patch([{ op: "remove", path: image }], { enabledIf: '{{ eq .imageName "ubuntu" }}' }),
      { image: undefined },
    ],
    ["leaves other templates alone", patch([{ op: "remove", path: image }], {}, select({ controlPlane: true })), {}],
    [
      "selects classes by a pattern",
      patch([{ op: "remove", path: image }], {}, select({ machineDeploymentClass: { names: ["default-*"] } })),
      { image: undefined },
    ],
  ])("%s", (_, one, expected) => {
    const before = { image: { imageRef: { name: "node" } }, tags: ["a", "b"] };
    expect(result([one])).toEqual(JSON.parse(JSON.stringify({ ...before, ...(expected as object) })));
  });

  test.each<readonly [string, Patch, RegExp]>([
    [
      "a path that leads nowhere",
      patch([{ op: "replace", path: `${image}/filter/name`, value: "x" }]),
      /doc is missing path: .*filter\/name/,
    ],
    [
      "a missing variable",
      patch([{ op: "add", path: image, valueFrom: { variable: "none" } }]),
      /variable "none" does not exist/,
    ],
    [
      "a value and a source of one",
      patch([{ op: "add", path: image, value: 1, valueFrom: { variable: "size" } }]),
      /exactly one of value and valueFrom/,
    ],
    [
      "a template that fails",
      patch([{ op: "add", path: image, valueFrom: { template: "{{ fail `no` }}" } }]),
      /failed to apply patch "p" to OpenStackMachineTemplate machine: no/,
    ],
    [
      "a template that renders no YAML",
      patch([{ op: "add", path: image, valueFrom: { template: "filter: [" } }]),
      /failed to apply patch "p" to OpenStackMachineTemplate machine: /,
    ],
    [
      "aliases that multiply a text",
      patch([{ op: "add", path: image, valueFrom: { template: "a: &a [x]\nb: *a\n" } }]),
      /[Aa]lias/,
    ],
    [
      "an external patch whose extension was not called",
      { name: "p", external: { generatePatchesExtension: "e" } },
      /extension handler e was not called/,
    ],
  ])("refuses %s", (_, one, message) => expect(() => result([one])).toThrow(message));

  test("does not change the template that it is given", () => {
    const before = structuredClone(template);
    result([patch([{ op: "remove", path: image }])]);
    expect(template).toEqual(before);
  });

  test("cannot reach a prototype", () => {
    expect(() => result([patch([{ op: "add", path: "/spec/__proto__/polluted", value: true }])])).toThrow(
      /missing path/,
    );
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
    expect(() => variableAt(variables, "constructor.name")).toThrow(/does not exist/);
  });
});
