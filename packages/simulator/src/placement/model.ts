import type { Context, Hono } from "hono";
import { computeTables, zones, type Server } from "../compute/model.ts";
import { fixedId } from "../compute/kit/fixed-id.ts";
import { pythonRepr } from "../kernel/python.ts";
import { hostOf } from "../compute/views.ts";
import type { Caller, Kernel, Table } from "../kernel/interface.ts";
import { ServiceError } from "../kernel/service-error.ts";

/** What a provider has of one class of resource. */
export interface Inventory {
  readonly total: number;
  readonly reserved: number;
  readonly min_unit: number;
  readonly max_unit: number;
  readonly step_size: number;
  readonly allocation_ratio: number;
}

/** A resource provider; `generation` counts its changes, and a write must name the current one. */
export interface Provider {
  readonly id: string;
  readonly name: string;
  readonly generation: number;
  readonly parent: string | null;
  readonly inventories: Readonly<Record<string, Inventory>>;
  readonly traits: readonly string[];
  readonly aggregates: readonly string[];
}

/** What a consumer has allocated: of each provider some of its classes. */
export interface Allocation {
  /** The consumer. */
  readonly id: string;
  readonly project_id: string;
  readonly user_id: string;
  readonly type: string;
  readonly generation: number;
  readonly resources: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

interface Named {
  readonly id: string;
}

/** All of Placement's state. Servers are Nova's own: their allocations are computed from them. */
export interface PlacementState {
  readonly kernel: Kernel;
  readonly providers: Table<Provider>;
  readonly allocations: Table<Allocation>;
  readonly traits: Table<Named>;
  readonly classes: Table<Named>;
  readonly servers: Table<Server>;
}

/** What the middleware sets for every route; `minor` is 36 of microversion 1.36. */
export type PlacementVariables = { caller: Caller; minor: number; requestId: string };
/** The Hono environment of Placement's routes. */
export type PlacementEnv = { Variables: PlacementVariables };
/** Where Placement's routes are added. */
export type PlacementApp = Hono<PlacementEnv>;
/** A request to Placement. */
export type PlacementContext = Context<{ Variables: PlacementVariables }>;

/** Traits that every compute host has. */
export const hostTraits = [
  "COMPUTE_ACCELERATORS",
  "COMPUTE_DEVICE_TAGGING",
  "COMPUTE_IMAGE_TYPE_RAW",
  "COMPUTE_NET_ATTACH_INTERFACE",
  "COMPUTE_NET_ATTACH_INTERFACE_WITH_TAG",
  "COMPUTE_NODE",
  "COMPUTE_TRUSTED_CERTS",
  "COMPUTE_VOLUME_ATTACH_WITH_TAG",
  "COMPUTE_VOLUME_EXTEND",
  "COMPUTE_VOLUME_MULTI_ATTACH",
] as const;

/** Resource classes that every Placement knows; a custom one begins with "CUSTOM_". */
export const standardClasses = [
  "VCPU",
  "MEMORY_MB",
  "DISK_GB",
  "PCI_DEVICE",
  "SRIOV_NET_VF",
  "NUMA_SOCKET",
  "NUMA_CORE",
  "NUMA_THREAD",
  "NUMA_MEMORY_MB",
  "IPV4_ADDRESS",
  "VGPU",
  "VGPU_DISPLAY_HEAD",
  "NET_BW_EGR_KILOBIT_PER_SEC",
  "NET_BW_IGR_KILOBIT_PER_SEC",
  "PCPU",
  "MEM_ENCRYPTION_CONTEXT",
  "FPGA",
  "PGPU",
  "NET_PACKET_RATE_KILOPACKET_PER_SEC",
  "NET_PACKET_RATE_EGR_KILOPACKET_PER_SEC",
  "NET_PACKET_RATE_IGR_KILOPACKET_PER_SEC",
] as const;

const whole = (total: number, ratio: number, reserved = 0): Inventory => ({
  total,
  reserved,
  min_unit: 1,
  max_unit: total,
  step_size: 1,
  allocation_ratio: ratio,
});

/** Placement's tables, with a provider for each compute host. */
export function placementState(kernel: Kernel): PlacementState {
  const providers: Table<Provider> = kernel.table("_resource_provider", ["name"]);
  for (const [place, host] of Object.values(zones).entries()) {
    const id = fixedId(2, place + 1);
    if (providers.get(id)) continue;
    providers.insert({
      id,
      name: host,
      generation: 0,
      parent: null,
      inventories: { VCPU: whole(1000, 16), MEMORY_MB: whole(800_000, 1.5, 512), DISK_GB: whole(600_000, 1) },
      traits: hostTraits,
      aggregates: [],
    });
  }
  return {
    kernel,
    providers,
    allocations: kernel.table("_allocation", ["project_id"]),
    traits: kernel.table("_trait"),
    classes: kernel.table("_resource_class"),
    servers: computeTables(kernel).servers,
  };
}

/** All allocations: those that were put, and what Nova's servers take of their hosts. */
export function allocationsOf({ allocations, servers, providers }: PlacementState): readonly Allocation[] {
  const taken = servers.all().flatMap((server): Allocation[] => {
    const host = hostOf(server);
    const provider = host === null ? undefined : providers.by("name", host)[0];
    return provider ? [serverAllocation(server, provider.id)] : [];
  });
  return [...taken, ...allocations.all()];
}

function serverAllocation(server: Server, providerId: string): Allocation {
  const { vcpus, ram, disk } = server.flavor;
  const resources = { VCPU: vcpus, MEMORY_MB: ram, ...(disk > 0 ? { DISK_GB: disk } : {}) };
  const { id, project_id, user_id } = server;
  return { id, project_id, user_id, type: "unknown", generation: 1, resources: { [providerId]: resources } };
}

/** How much of each class a provider's consumers have allocated. */
export function usedOf(state: PlacementState, provider: Provider): Readonly<Record<string, number>> {
  const used: Record<string, number> = Object.fromEntries(Object.keys(provider.inventories).map((name) => [name, 0]));
  for (const { resources } of allocationsOf(state)) {
    for (const [name, amount] of Object.entries(resources[provider.id] ?? {})) used[name] = (used[name] ?? 0) + amount;
  }
  return used;
}

/** How much of an inventory consumers can take in all: overcommitted, less what is reserved. */
export const capacityOf = (inventory: Inventory): number =>
  Math.floor((inventory.total - inventory.reserved) * inventory.allocation_ratio);

/** True if the provider has capacity for the amount. */
export function fits(inventory: Inventory | undefined, used: number, amount: number): boolean {
  if (!inventory || amount < inventory.min_unit || amount > inventory.max_unit) return false;
  return amount % inventory.step_size === 0 && used + amount <= capacityOf(inventory);
}

const titles: Readonly<Record<number, readonly [string, string]>> = {
  400: [
    "Bad Request",
    "The server could not comply with the request since it is either malformed or otherwise incorrect.",
  ],
  403: ["Forbidden", "Access was denied to this resource."],
  404: ["Not Found", "The resource could not be found."],
  409: ["Conflict", "There was a conflict when trying to complete your request."],
};

/** An error in Placement's form: {"errors": [{status, title, detail, code}]}. */
export function placementError(status: number, why: string, code = "placement.undefined_code"): ServiceError {
  const [title, what] = titles[status] ?? ["Error", ""];
  return new ServiceError(status, { errors: [{ status, title, detail: `${what}\n\n ${why}  `, code }] });
}

/** What a body has that its schema forbids, for the place `at` in the schema and the instance. */
interface Unfit {
  readonly given: unknown;
  readonly why: string;
  readonly rule: string;
  /**
   * Keys from the body down; a pattern of keys is between slashes, and the key it met behind them:
   * "/^[A-Z0-9_]+$/VCPU".
   */
  readonly at: readonly string[];
  readonly schema: unknown;
}

/** Placement's 400 for a body that is not of its schema, as the validator prints it. */
export function unfit({ given, why, rule, at, schema }: Unfit): ServiceError {
  const steps = at.map((step) => /^\/(.*)\/(.*)$/.exec(step)?.slice(1) ?? [undefined, step]);
  const inSchema = steps.map(([pattern, key]) =>
    pattern === undefined ? `['properties']['${key ?? ""}']` : `['patternProperties']['${pattern}']`,
  );
  const inBody = steps.map(([, key]) => `['${key ?? ""}']`).join("");
  const lines = [
    `Failed validating '${rule}' in schema${inSchema.join("")}:`,
    `    ${pythonRepr(schema)}`,
    "",
    `On instance${inBody}:`,
    `    ${pythonRepr(given)}`,
  ];
  return placementError(400, `JSON does not validate: ${why}  ${lines.join(" ")}`);
}

/** True of a class of resources that there is. */
export function isClass({ classes }: PlacementState, name: string): boolean {
  const standard: readonly string[] = standardClasses;
  return standard.includes(name) || classes.get(name) !== undefined;
}

/** Throws 403 unless the caller is an administrator. */
export function administer(c: PlacementContext, rule: string): void {
  if (c.get("caller").isAdmin) return;
  throw placementError(403, `Policy does not allow placement:${rule} to be performed.`);
}

/** 409 if another client changed the provider meanwhile. */
export function checkGeneration(provider: Provider, generation: unknown): void {
  if (generation === provider.generation) return;
  throw placementError(409, "resource provider generation conflict", "placement.concurrent_update");
}
