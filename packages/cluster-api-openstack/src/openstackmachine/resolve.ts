import type { OpenStackMachineSpec, ResolvedMachine } from "@causeway/api";
import { suggest } from "../resources/suggestions.ts";
import type { MachineCloud, MachineContext } from "./model.ts";
import { resolvePorts } from "./ports.ts";
import { serverTags } from "./server-labels.ts";

/** What a spec means in this cloud, or everything that is wrong with it. */
export type ResolvedSpec =
  | { readonly ok: true; readonly resolved: ResolvedMachine & { readonly flavorID: string; readonly imageID: string } }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Turns names and filters into ids. Nothing is made before all of them are known. */
export function resolveSpec(context: MachineContext): ResolvedSpec {
  const { spec } = context.object;
  const problems = [...unserved(spec), ...extensionProblems(context)];
  const note = (outcome: Outcome) => {
    if (outcome.problem !== undefined) problems.push(outcome.problem);
    return outcome.id;
  };
  const flavorID = note(flavorOf(spec, context.cloud));
  const imageID = context.image?.id ?? note(imageOf(spec, context.cloud));
  const serverGroupID = note(serverGroupOf(spec, context.cloud));
  const ports = resolvePorts(context);
  problems.push(...ports.problems);
  if (problems.length > 0 || flavorID === undefined || imageID === undefined) return { ok: false, problems };
  return {
    ok: true,
    resolved: {
      flavorID,
      imageID,
      ...(serverGroupID === undefined ? {} : { serverGroupID }),
      ports: [...ports.ports],
      ...given(context),
    },
  };
}

/** Tags and keys of metadata that the server is given; a later change of the spec removes those. */
function given(context: MachineContext): Pick<ResolvedMachine, "tags" | "metadataKeys"> {
  const tags = serverTags(context);
  const keys = (context.object.spec.serverMetadata ?? []).map(({ key }) => key).sort();
  return { ...(tags.length > 0 ? { tags } : {}), ...(keys.length > 0 ? { metadataKeys: keys } : {}) };
}

interface Outcome {
  readonly id?: string;
  readonly problem?: string;
}

function unserved(spec: OpenStackMachineSpec): string[] {
  const problems: string[] = [];
  if (spec.additionalBlockDevices?.some((d) => d.name === "root")) {
    problems.push('spec.additionalBlockDevices: the name "root" is the root volume\'s');
  }
  return problems;
}

/** True if a spec needs to know which extensions Neutron has. */
export function needsExtensions(spec: OpenStackMachineSpec): boolean {
  return wantsTrunk(spec) || (spec.ports ?? []).some((port) => port.profile?.trustedVF === true);
}

function wantsTrunk(spec: OpenStackMachineSpec): boolean {
  const ports = spec.ports?.length ? spec.ports : [{}];
  return ports.some((port) => port.trunk ?? spec.trunk ?? false);
}

function extensionProblems({ object: { spec }, cloud: { extensions } }: MachineContext): string[] {
  if (!wantsTrunk(spec) || extensions === undefined || extensions.has("trunk")) return [];
  return ["The cloud has no trunk ports (Neutron's extension trunk is missing); set trunk to false"];
}

function flavorOf({ flavor }: OpenStackMachineSpec, { flavors }: MachineCloud): Outcome {
  if (flavor.id !== undefined) {
    return flavors.some((f) => f.id === flavor.id)
      ? { id: flavor.id }
      : {
          problem: `There is no flavor with id ${flavor.id}; ${suggest(
            flavor.id,
            flavors.map((f) => f.id),
          )}`,
        };
  }
  const name = flavor.filter?.name;
  if (!name) return { problem: "spec.flavor needs an id or filter.name" };
  const fitting = flavors.filter((f) => f.name === name);
  if (fitting.length > 1) return { problem: `${fitting.length} flavors are named ${name}; set spec.flavor.id` };
  const [only] = fitting;
  return only
    ? { id: only.id }
    : {
        problem: `There is no flavor ${name}; ${suggest(
          name,
          flavors.map((f) => f.name),
        )}`,
      };
}

function imageOf({ image }: OpenStackMachineSpec, { images }: MachineCloud): Outcome {
  if (image.id !== undefined) {
    return images.some((i) => i.id === image.id) ? { id: image.id } : { problem: `Image ${image.id} does not exist` };
  }
  const { name, tags = [] } = image.filter ?? {};
  if (!name && tags.length === 0) return { problem: "spec.image needs an id or a filter" };
  const fitting = images.filter((i) => (!name || i.name === name) && tags.every((t) => i.tags.includes(t)));
  const what = [name, ...tags.map((t) => `tag ${t}`)].filter((w) => w !== undefined && w !== "").join(", ");
  if (fitting.length > 1) {
    const listed = fitting
      .map((i) => i.id)
      .sort()
      .join(", ");
    return { problem: `${fitting.length} images match ${what}: ${listed}; set spec.image.id` };
  }
  const [only] = fitting;
  if (!only)
    return {
      problem: `There is no image ${what}; ${suggest(
        name ?? "",
        images.map((i) => i.name),
      )}`,
    };
  return only.status === "active" ? { id: only.id } : { problem: `Image ${what} is ${only.status}, not active` };
}

function serverGroupOf({ serverGroup }: OpenStackMachineSpec, { serverGroups }: MachineCloud): Outcome {
  if (!serverGroup) return {};
  const { id, filter } = serverGroup;
  const fitting = serverGroups.filter((g) => (id === undefined ? g.name === filter?.name : g.id === id));
  if (fitting.length > 1) {
    const ids = fitting.map((g) => g.id).sort();
    return {
      problem: `${fitting.length} server groups are named ${filter?.name}: ${ids.join(", ")}; set spec.serverGroup.id`,
    };
  }
  const [only] = fitting;
  const wanted = id ?? filter?.name ?? "";
  return only
    ? { id: only.id }
    : {
        problem: `There is no server group ${wanted}; ${suggest(
          wanted,
          serverGroups.map((g) => g.name),
        )}`,
      };
}
