import { isDeepStrictEqual } from "node:util";
import type { OpenStackMachine, OpenStackMachineTemplate, PortSpec } from "@causeway/api";
import { setConditions, type Plan, type WantedCondition } from "@causeway/kubernetes";
import type { Flavor, Image } from "@causeway/openstack";
import { capacityOf, nodeInfoOf } from "./capacity.ts";
import type { TemplateCloud, Observed } from "./model.ts";
import type { TemplateStep } from "./steps.ts";

type Status = NonNullable<OpenStackMachineTemplate["status"]>;
/** The steps and status of an OpenStackMachineTemplate: its capacity, and address pairs of its machines. */
export type TemplatePlan = Plan<TemplateStep, Status>;

const recheck = 60_000;

/**
 * A template says what its servers will have, so that an autoscaler can add the first one; and the address pairs of its
 * ports, which may change, are those of the machines that were made from it. Pure.
 */
export function plan({ object, paused, identity, image, machines }: Observed, now: number): TemplatePlan {
  const before = object.status ?? {};
  if (paused || object.metadata.deletionTimestamp !== undefined) return { steps: [], status: before };
  const steps = machines.flatMap((machine) => pairsOf(object, machine));
  if (identity === undefined) return { steps, status: before };
  if (!identity.ok && identity.until !== undefined)
    return { steps, status: before, wait: { for: identity.message, until: identity.until } };
  const found = identity.ok ? lookUp(object, identity.cloud, image?.id) : unknown(identity);
  const moment = { generation: object.metadata.generation, now };
  const conditions = setConditions(before.conditions, [found.ready], moment);
  const wait = found.ready.status === "True" ? {} : { wait: { for: found.ready.message ?? "", until: now + recheck } };
  return { steps, status: { ...before, ...found.status, conditions }, ...wait };
}

interface Found {
  readonly ready: WantedCondition;
  readonly status: Pick<Status, "capacity" | "nodeInfo">;
}

function unknown({ reason, message }: { readonly reason: string; readonly message: string }): Found {
  return { ready: { type: "Ready", status: "False", reason, message }, status: {} };
}

/** The last known capacity remains while flavor or image cannot be found. */
function lookUp({ spec }: OpenStackMachineTemplate, cloud: TemplateCloud, imageId: string | undefined): Found {
  const { flavor: wanted, image, rootVolume } = spec.template.spec;
  const flavor = only(cloud.flavors, (f) => (wanted.id ? f.id === wanted.id : f.name === wanted.filter?.name));
  if (!flavor) {
    const name = wanted.id ?? wanted.filter?.name ?? "";
    return unknown({ reason: "FlavorNotFound", message: `The project has no flavor, or several, called ${name}` });
  }
  const info = imageInfo(cloud.images, image, imageId);
  return {
    ready: { type: "Ready", status: "True", reason: "CapacityKnown" },
    status: { capacity: capacityOf(flavor, rootVolume), ...(info ? { nodeInfo: info } : {}) },
  };
}

type ImageParameter = OpenStackMachineTemplate["spec"]["template"]["spec"]["image"];

function imageInfo(
  images: readonly Image[],
  { id, filter }: ImageParameter,
  referred: string | undefined,
): Status["nodeInfo"] {
  const wanted = id ?? referred;
  const tags = filter?.tags ?? [];
  if (wanted === undefined && !filter?.name && tags.length === 0) return undefined;
  const image = only(images, (each) =>
    wanted === undefined
      ? (!filter?.name || each.name === filter.name) && tags.every((tag) => each.tags.includes(tag))
      : each.id === wanted,
  );
  return image && nodeInfoOf(image);
}

function only<T extends Flavor | Image>(list: readonly T[], fits: (one: T) => boolean): T | undefined {
  const fitting = list.filter(fits);
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** Ports correspond by their place. A machine with other ports than the template's is left alone. */
function pairsOf({ spec }: OpenStackMachineTemplate, machine: OpenStackMachine): TemplateStep[] {
  if (machine.metadata.deletionTimestamp !== undefined) return [];
  const wanted = spec.template.spec.ports ?? [];
  const ports = machine.spec.ports ?? [];
  const isSame =
    wanted.length === ports.length && wanted.every((port, i) => isDeepStrictEqual(bare(port), bare(ports[i])));
  if (!isSame || isDeepStrictEqual(wanted.map(pairs), ports.map(pairs))) return [];
  const changed = ports.map((port, i): PortSpec => {
    const { allowedAddressPairs: _, ...rest } = port;
    const allowedAddressPairs = wanted[i]?.allowedAddressPairs;
    // An empty list, so that the pairs of the port are removed.
    return { ...rest, allowedAddressPairs: allowedAddressPairs ?? [] };
  });
  return [{ type: "set-address-pairs", machine, ports: changed }];
}

function pairs({ allowedAddressPairs = [] }: PortSpec): unknown {
  return allowedAddressPairs;
}

function bare(port: PortSpec | undefined): unknown {
  const { allowedAddressPairs: _, ...rest } = port ?? {};
  return rest;
}
