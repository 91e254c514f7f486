import type { ClusterClass } from "@causeway/api";
import { goYamlTags, messageOf } from "@causeway/foundation";
import { parse } from "yaml";
import type { ProviderObject } from "../contract/provider-object.ts";
import { renderTemplate } from "../gotemplate/render.ts";
import { fieldOf, isFields, isList, type Fields, type Value } from "../gotemplate/values.ts";
import { withGenerated, type GeneratedPatch } from "./generated.ts";
import { applyOperation } from "./json-patch.ts";
import { TopologyProblem } from "./problem.ts";

type Patch = NonNullable<ClusterClass["spec"]["patches"]>[number];
type Definition = NonNullable<Patch["definitions"]>[number];
type JsonPatch = Definition["jsonPatches"][number];

/** What a template is for: selectors of patches name it. */
export type Holder =
  | { readonly type: "infrastructure" | "controlPlane" }
  | { readonly type: "machineDeployment" | "machinePool"; readonly class: string };

/** A template, the patches of its class, and what these may read. */
export interface PatchInput {
  readonly patches: readonly Patch[];
  /** At the version that the ClusterClass refers to. */
  readonly template: ProviderObject;
  readonly holder: Holder;
  /** By name, `builtin` among them. */
  readonly variables: Fields;
  /** Of this template, by the names of patches: an external patch without an entry was not requested yet. */
  readonly generated?: ReadonlyMap<string, readonly GeneratedPatch[]>;
}

/** The template with the patches of its ClusterClass, in their order. @throws TopologyProblem */
export function patchedTemplate(input: PatchInput): ProviderObject {
  let result = structuredClone(input.template);
  for (const patch of input.patches) {
    try {
      result = patch.external ? externallyPatched(patch, result, input) : inlinePatched(patch, result, input);
    } catch (error) {
      const { kind, metadata } = input.template;
      throw new TopologyProblem(
        `failed to apply patch ${JSON.stringify(patch.name)} to ${kind} ${metadata.name}: ${messageOf(error)}`,
      );
    }
  }
  return result;
}

function externallyPatched({ name, external }: Patch, template: ProviderObject, input: PatchInput): ProviderObject {
  const { generated } = input;
  if (!external?.generatePatchesExtension) return template;
  const patches = generated?.get(name);
  if (!patches) throw new Error(`extension handler ${external.generatePatchesExtension} was not called`);
  return patches.reduce(withGenerated, template);
}

/** Changes `result` in place. */
function inlinePatched(patch: Patch, result: ProviderObject, { template, holder, variables }: PatchInput) {
  const matching = (patch.definitions ?? []).filter((definition) => isSelected(definition, template, holder));
  if (matching.length === 0 || !isEnabled(patch, variables)) return result;
  for (const { jsonPatches } of matching)
    for (const one of jsonPatches)
      applyOperation(result, { op: one.op, path: one.path, value: valueOf(one, variables) });
  return result;
}

/** By apiVersion, kind and what the template is for; names of classes may begin or end with `*`. */
export function isSelected(
  { selector }: Definition,
  template: Pick<ProviderObject, "apiVersion" | "kind">,
  holder: Holder,
): boolean {
  if (selector.apiVersion !== template.apiVersion || selector.kind !== template.kind) return false;
  const { infrastructureCluster, controlPlane, machineDeploymentClass, machinePoolClass } = selector.matchResources;
  switch (holder.type) {
    case "infrastructure":
      return infrastructureCluster === true;
    case "controlPlane":
      return controlPlane === true;
    case "machinePool":
      return (machinePoolClass?.names ?? []).some((name) => matchesName(name, holder.class));
    default:
      return (machineDeploymentClass?.names ?? []).some((name) => matchesName(name, holder.class));
  }
}

/** `*` represents anything at the beginning or the end of a name. */
function matchesName(pattern: string, name: string): boolean {
  if (pattern === "*" || pattern === name) return true;
  if (pattern.startsWith("*") && name.endsWith(pattern.slice(1))) return true;
  return pattern.endsWith("*") && name.startsWith(pattern.slice(0, -1));
}

function isEnabled({ enabledIf }: Patch, variables: Fields): boolean {
  return enabledIf === undefined || enabledIf === "" || parsed(renderTemplate(enabledIf, variables)) === true;
}

function valueOf({ op, value, valueFrom }: JsonPatch, variables: Fields): unknown {
  if (op === "remove") return undefined;
  if ((value === undefined) === (valueFrom === undefined))
    throw new Error("exactly one of value and valueFrom must be set");
  if (!valueFrom) return value;
  if ((valueFrom.variable === undefined) === (valueFrom.template === undefined))
    throw new Error("exactly one of valueFrom.variable and valueFrom.template must be set");
  return valueFrom.variable === undefined
    ? parsed(renderTemplate(valueFrom.template ?? "", variables))
    : variableAt(variables, valueFrom.variable);
}

/** Rendered text is YAML. Aliases could multiply it, and are refused. */
function parsed(text: string): unknown {
  return parse(text, { maxAliasCount: 0, schema: "yaml-1.1", customTags: goYamlTags, logLevel: "error" }) as unknown;
}

const segment = /^([^[\]]*)((?:\[\d{1,9}\])*)$/;

/** The value at a path such as `builtin.cluster.name` or `list[2].name`. @throws Error when there is none */
export function variableAt(variables: Fields, path: string): Value {
  let value: Value = variables;
  for (const part of path.split(".")) {
    const [, name = "", places = ""] = segment.exec(part) ?? [];
    if (name === "" || !isFields(value) || !Object.hasOwn(value, name))
      throw new Error(`variable ${JSON.stringify(path)} does not exist`);
    value = fieldOf(value, name);
    for (const [, place] of places.matchAll(/\[(\d+)\]/g)) {
      if (!isList(value) || Number(place) >= value.length)
        throw new Error(`variable ${JSON.stringify(path)} does not exist: index out of range`);
      value = value[Number(place)];
    }
  }
  return value;
}
