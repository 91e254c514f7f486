import type { ClusterClass } from "@causeway/api";
import { messageOf } from "@causeway/foundation";
import { parseTemplate } from "../gotemplate/parse.ts";
import { renderTemplate } from "../gotemplate/render.ts";
import { referencesOf } from "../topology/blueprint.ts";
import { parseVersion } from "../objects/versions.ts";
import { definitionProblems } from "../variables/definition.ts";

type Patch = NonNullable<ClusterClass["spec"]["patches"]>[number];
type Definition = NonNullable<Patch["definitions"]>[number];

/** What upstream's admission refuses of a ClusterClass, and what is not supported here: one line for each problem. */
export function classProblems(clusterClass: Pick<ClusterClass, "spec">): string[] {
  const { spec } = clusterClass;
  return [
    ...definitionProblems(spec.variables ?? []),
    ...references(clusterClass),
    ...uniqueClasses(clusterClass),
    ...(spec.kubernetesVersions ?? []).flatMap((version, at) =>
      attempt(`spec.kubernetesVersions[${at}]`, () => parseVersion(version)),
    ),
    ...namingProblems(clusterClass),
    ...(spec.patches ?? []).flatMap((patch, at) => patchProblems(clusterClass, patch, `spec.patches[${at}]`)),
    ...uniqueNames(spec.patches ?? []),
    ...tooManyExternal(spec.patches ?? []),
    ...(spec.upgrade?.external?.generateUpgradePlanExtension
      ? [
          "spec.upgrade.external.generateUpgradePlanExtension: Forbidden: runtime extensions are not supported; use kubernetesVersions",
        ]
      : []),
  ];
}

function attempt(path: string, work: () => unknown): string[] {
  try {
    work();
    return [];
  } catch (error) {
    return [`${path}: Invalid value: ${messageOf(error)}`];
  }
}

function references(clusterClass: Pick<ClusterClass, "spec">): string[] {
  return referencesOf(clusterClass).flatMap(({ path, reference }) =>
    reference.kind.endsWith("Template")
      ? []
      : [`${path}.kind: Invalid value: ${JSON.stringify(reference.kind)}: kind must be of form '<kind>Template'`],
  );
}

function uniqueClasses({ spec }: Pick<ClusterClass, "spec">): string[] {
  return (["machineDeployments", "machinePools"] as const).flatMap((list) => {
    const names = (spec.workers?.[list] ?? []).map((one) => one.class);
    const twice = names.filter((name, at) => names.indexOf(name) !== at);
    return twice.map((name) => `spec.workers.${list}: Invalid value: ${JSON.stringify(name)}: class must be unique`);
  });
}

function uniqueNames(patches: readonly Patch[]): string[] {
  const names = patches.map(({ name }) => name);
  return names
    .filter((name, at) => names.indexOf(name) !== at)
    .map((name) => `spec.patches: Invalid value: ${JSON.stringify(name)}: patch names must be unique`);
}

/** Each asks an extension in every reconcile, and has the objects computed once more. */
const mostExternal = 16;

function tooManyExternal(patches: readonly Patch[]): string[] {
  const count = patches.filter(({ external }) => external !== undefined).length;
  return count > mostExternal ? [`spec.patches: Too many: ${count}: at most ${mostExternal} patches are external`] : [];
}

function namingProblems({ spec }: Pick<ClusterClass, "spec">): string[] {
  const check = (path: string, template: string | undefined, data: object) => {
    if (template === undefined) return [];
    const sample = { cluster: { name: "cluster" }, random: "bcdfg", ...data };
    return attempt(`${path}.naming.template`, () => {
      const name = renderTemplate(template, sample, { missingKey: "error", plain: true });
      if (!/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name)) throw new Error(`${JSON.stringify(name)} is not a name`);
    });
  };
  return [
    ...check("spec.infrastructure", spec.infrastructure.naming?.template, {}),
    ...check("spec.controlPlane", spec.controlPlane.naming?.template, {}),
    ...(spec.workers?.machineDeployments ?? []).flatMap((one) =>
      check(`spec.workers.machineDeployments[${one.class}]`, one.naming?.template, {
        machineDeployment: { topologyName: "workers" },
      }),
    ),
    ...(spec.workers?.machinePools ?? []).flatMap((one) =>
      check(`spec.workers.machinePools[${one.class}]`, one.naming?.template, {
        machinePool: { topologyName: "workers" },
      }),
    ),
  ];
}

function patchProblems(clusterClass: Pick<ClusterClass, "spec">, patch: Patch, path: string): string[] {
  const { external } = patch;
  if (external && patch.definitions?.length)
    return [`${path}: Invalid value: only one of definitions and external can be defined`];
  if (external)
    return external.generatePatchesExtension || external.validateTopologyExtension
      ? []
      : [
          `${path}.external: Required value: one of generatePatchesExtension and validateTopologyExtension must be defined`,
        ];
  if (!patch.definitions?.length) return [`${path}: Required value: one of definitions or external must be defined`];
  return [
    ...(patch.enabledIf ? attempt(`${path}.enabledIf`, () => parseTemplate(patch.enabledIf ?? "")) : []),
    ...patch.definitions.flatMap((definition, at) =>
      definitionOf(clusterClass, definition, `${path}.definitions[${at}]`),
    ),
  ];
}

function definitionOf(
  clusterClass: Pick<ClusterClass, "spec">,
  { selector, jsonPatches }: Definition,
  path: string,
): string[] {
  const known = new Set((clusterClass.spec.variables ?? []).map(({ name }) => name));
  const isKnown = referencesOf(clusterClass).some(
    ({ reference }) => reference.apiVersion === selector.apiVersion && reference.kind === selector.kind,
  );
  return [
    ...(isKnown
      ? []
      : [
          `${path}.selector: Invalid value: no template of the ClusterClass is a ${selector.kind} of ${selector.apiVersion}`,
        ]),
    ...jsonPatches.flatMap((patch, at) => {
      const place = `${path}.jsonPatches[${at}]`;
      const variable = patch.valueFrom?.variable;
      const root = variable?.split(/[.[]/)[0] ?? "";
      return [
        ...(patch.path.startsWith("/spec/")
          ? []
          : [`${place}.path: Invalid value: ${JSON.stringify(patch.path)}: path must start with "/spec/"`]),
        ...(patch.op === "remove" && (patch.value !== undefined || patch.valueFrom)
          ? [`${place}: Forbidden: a remove has no value`]
          : []),
        ...(patch.op !== "remove" && (patch.value === undefined) === (patch.valueFrom === undefined)
          ? [`${place}: Required value: exactly one of value and valueFrom must be set`]
          : []),
        ...(variable !== undefined && root !== "builtin" && !known.has(root)
          ? [
              `${place}.valueFrom.variable: Invalid value: ${JSON.stringify(variable)}: variable with name ${root} cannot be found`,
            ]
          : []),
        ...(patch.valueFrom?.template === undefined
          ? []
          : attempt(`${place}.valueFrom.template`, () => parseTemplate(patch.valueFrom?.template ?? ""))),
      ];
    }),
  ];
}
