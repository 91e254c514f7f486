import type { PlannedEvent, WantedCondition } from "@causeway/kubernetes";
import type { ResolvedPort } from "@causeway/api";
import type { Port, Volume } from "@causeway/openstack";
import { adoptAnnotation } from "../resources/naming.ts";
import { chosen, tagsToSet, type Found } from "../resources/ownership.ts";
import type { MachineContext } from "./model.ts";
import type { MachineStep } from "./steps.ts";
import { markOf, portBody, portMarks } from "./ports.ts";
import { resolveSpec } from "./resolve.ts";
import { isGone, ownVolumes, serverBody, volumeBodies } from "./server.ts";
import { candidatesOf, chooseOwn, severalOf } from "./duplicate-ports.ts";
import { planClaim } from "./floating-ip.ts";
import { trunkSteps, type Trunked } from "./trunks.ts";
import { waiting, type Outcome } from "./outcome.ts";

const recheck = 30_000;

/** Ports and volumes first, then the server; nothing at all before the whole spec has been understood. */
export function planBuild(context: MachineContext, now: number): Outcome {
  const claimed = nameProblem(context);
  if (claimed !== undefined) return refused("NameInUse", claimed, now);
  const { image } = context;
  if (image && image.id === undefined)
    return waiting("DependencyFailed", image.message ?? `Image ${image.name} to be available`);
  const spec = resolveSpec(context);
  if (!spec.ok) return refused("InvalidMachineSpec", spec.problems.join(". "), now);
  const { resolved } = spec;
  const claim = planClaim(context);
  if (claim) return { ...claim, status: { resolved } };
  const ports = planPorts(context, resolved.ports ?? []);
  if (typeof ports === "string") return failed("DuplicatePort", ports, now + recheck);
  if (ports.wait !== undefined)
    return {
      steps: [],
      finding: building(`Waiting for ${ports.wait}`),
      wait: { for: ports.wait, until: now + recheck },
    };
  const volumes = planVolumes(context, resolved.imageID);
  if (volumes.problem !== undefined) return failed("VolumeError", volumes.problem, now + recheck);
  const finalizer: MachineStep[] = context.object.metadata.finalizers?.includes(context.finalizer)
    ? []
    : [{ type: "add-finalizer", reason: "InstanceNotReady" }];
  const before = [...finalizer, ...volumes.steps, ...ports.steps];
  const status = { resolved };
  if (before.length > 0) return { steps: before, finding: building("Creating ports and volumes"), status };
  if (volumes.wait !== undefined) {
    return { steps: [], finding: building(`Waiting for ${volumes.wait}`), status, wait: { for: volumes.wait } };
  }
  const portIds = ports.ports.map((p) => p.id);
  const body = serverBody(context, { resolved, portIds, volumes: volumes.volumes });
  const secret = context.owner?.bootstrapSecret ?? "";
  return {
    steps: [{ type: "create-server", reason: "InstanceCreateFailed", body, secret }],
    finding: building(`Creating server ${context.name}`),
    status,
    events: duplicates(context, resolved.ports ?? []),
  };
}

/** Which ports there are several times, and what becomes of them. */
function duplicates(context: MachineContext, wanted: readonly ResolvedPort[]): PlannedEvent[] {
  return wanted.flatMap((port): PlannedEvent[] => {
    const all = candidatesOf(context, port);
    const own = chooseOwn(context, all);
    if (own.kind !== "one" || all.length === 1) return [];
    const others = all.filter(({ id }) => id !== own.resource.id).map(({ id }) => id);
    const message = `Port ${port.name} was created ${all.length} times: the server gets ${own.resource.id}, and once it runs ${others.join(", ")} will be deleted`;
    return [{ type: "Warning", reason: "DuplicatePort", message }];
  });
}

function building(message: string): WantedCondition {
  return { type: "InstanceReady", status: "False", reason: "InstanceNotReady", message };
}

function refused(reason: string, message: string, now: number): Outcome {
  return { ...failed(reason, message, now + recheck), events: [{ type: "Warning", reason, message }] };
}

/**
 * Before the first resource is created, one of the machine's names belongs to another owner: another management
 * cluster's machine, or a server that a user created. After that the finalizer is there.
 */
function nameProblem(context: MachineContext): string | undefined {
  const { object, name, cloud } = context;
  if (object.metadata.finalizers?.includes(context.finalizer)) return undefined;
  if (object.metadata.annotations?.[adoptAnnotation] === "true") return undefined;
  const server = cloud.servers.find((s) => s.name === name && !isGone(s));
  const marks = portMarks(object, context);
  const port = cloud.ports.find((p) => p.project_id === cloud.projectId && marks.includes(markOf(p)));
  const volume = ownVolumes(context)[0];
  const found = server ? `server ${server.id}` : port ? `port ${port.id}` : volume ? `volume ${volume.id}` : undefined;
  if (found === undefined) return undefined;
  return `The project has ${found} with this machine's name, which this object did not create. Delete it, choose another name, or set the annotation ${adoptAnnotation} to "true"`;
}

function failed(reason: string, message: string, until: number): Outcome {
  return {
    steps: [],
    finding: { type: "InstanceReady", status: "False", reason, message },
    wait: { for: message, until },
  };
}

interface PortsPlan {
  readonly steps: readonly MachineStep[];
  readonly ports: readonly Port[];
  readonly wait?: string;
}

function planPorts(context: MachineContext, wanted: readonly ResolvedPort[]): PortsPlan | string {
  const steps: MachineStep[] = [];
  const found = new Map<string, Port>();
  for (const port of wanted) {
    const one = findPort(context, port);
    if (one.kind === "one" && one.resource.device_id !== "") {
      return {
        steps: [],
        ports: [],
        wait: `server ${one.resource.device_id}, which has port ${port.name}, to be listed`,
      };
    }
    if (one.kind === "several") return severalOf(port, one.ids);
    if (one.kind === "none") {
      steps.push(creation(context, port));
      continue;
    }
    found.set(port.name, one.resource);
    const tags = tagsToSet(one.resource.tags, port.tags ?? []);
    if (tags) steps.push({ type: "set-port-tags", reason: "PortCreateFailed", id: one.resource.id, tags });
  }
  const trunks = trunksOf(wanted, found).flatMap(trunkSteps);
  const own = wanted.filter(({ parent }) => parent === undefined).flatMap(({ name }) => found.get(name) ?? []);
  return { steps: [...trunks, ...steps], ports: own };
}

/** The call that makes a port. */
export function creation({ cloud }: MachineContext, port: ResolvedPort): Extract<MachineStep, { type: "create-port" }> {
  return {
    type: "create-port",
    reason: "PortCreateFailed",
    body: portBody(port, cloud.extensions),
    tags: port.tags ?? [],
  };
}

/** Each port that exists with its subports, once all of them exist. */
export function trunksOf(wanted: readonly ResolvedPort[], found: ReadonlyMap<string, Port>): Trunked[] {
  return wanted.flatMap((parent): Trunked[] => {
    const port = parent.parent === undefined ? found.get(parent.name) : undefined;
    if (!port) return [];
    const below = wanted.filter((each) => each.parent === parent.name);
    const subports = below.flatMap((each) => {
      const one = found.get(each.name);
      return one ? [{ port: one, wanted: each }] : [];
    });
    return subports.length < below.length ? [] : [{ port, wanted: parent, subports }];
  });
}

/** A port of ours by that name: left by an attempt that ended before the server was made, or was seen. */
export function findPort(context: MachineContext, port: ResolvedPort): Found<Port> {
  return chooseOwn(context, candidatesOf(context, port));
}

interface VolumesPlan {
  readonly steps: readonly MachineStep[];
  readonly volumes: readonly Volume[];
  readonly wait?: string;
  readonly problem?: string;
}

function planVolumes(context: MachineContext, imageId: string): VolumesPlan {
  const own = ownVolumes(context);
  const steps: MachineStep[] = [];
  const volumes: Volume[] = [];
  let wait: string | undefined;
  for (const body of volumeBodies(context, imageId)) {
    const found = chosen(own.filter((v) => v.name === body.name));
    if (found.kind === "several")
      return { steps, volumes, problem: `Several volumes are named ${body.name}: ${found.ids.join(", ")}` };
    if (found.kind === "none") {
      steps.push({ type: "create-volume", reason: "VolumeError", body });
      continue;
    }
    const volume = found.resource;
    volumes.push(volume);
    if (volume.status.startsWith("error")) {
      return {
        steps: [],
        volumes,
        problem: `Volume ${volume.name} (${volume.id}) is in ${volume.status}; delete it to have it recreated`,
      };
    }
    if (volume.status !== "available")
      wait = `volume ${volume.name} (${volume.id}) to be available; it is ${volume.status}`;
  }
  return { steps, volumes, ...(wait === undefined ? {} : { wait }) };
}
