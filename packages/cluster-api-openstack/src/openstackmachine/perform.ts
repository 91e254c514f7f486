import { Machine, OpenStackMachine } from "@causeway/api";
import { CausewayError, hasCode } from "@causeway/foundation";
import { addFinalizer, isNotFound, keyOf, removeFinalizer } from "@causeway/kubernetes";
import type { Port, Server, ServerCreate } from "@causeway/openstack";
import { endpointHook } from "../openstackcluster/leaving.ts";
import { machineFinalizer, serverOwnerKey } from "../resources/naming.ts";
import { emit, type Call, type ServerPerformContext } from "./perform-context.ts";
import { createClaim, deleteClaim } from "./perform-claim.ts";
import { performUpdate } from "./perform-updates.ts";
import type { MachineStep } from "./steps.ts";
import { isGone } from "./server.ts";

/** What the steps of an OpenStackMachine are performed. */
export interface MachinePerformContext extends ServerPerformContext {
  readonly object: OpenStackMachine;
}

/** The field manager of an OpenStackMachine's status, spec.providerID and claims. */
export const fieldManager = "causeway-openstackmachine";

/** Makes one step true. Each step may be repeated. */
export async function perform(step: MachineStep, using: MachinePerformContext, signal: AbortSignal): Promise<void> {
  const { client, object } = using;
  if (step.type === "add-finalizer") {
    await addFinalizer(client, OpenStackMachine, object, { finalizer: machineFinalizer, signal });
  } else if (step.type === "remove-finalizer") {
    await removeFinalizer(client, OpenStackMachine, object, { finalizer: machineFinalizer, signal });
  } else if (step.type === "record-provider-id") {
    const body = { spec: { providerID: step.providerId } };
    await client.patch(OpenStackMachine, keyOf(object), { type: "merge", body }, { signal, fieldManager });
  } else if (step.type === "set-endpoint-hook") {
    await setEndpointHook(step, using, signal);
  } else {
    await performShared(step, using, signal);
  }
}

/** A Machine that is gone needs no hook. */
async function setEndpointHook(
  { machine, value }: Extract<MachineStep, { type: "set-endpoint-hook" }>,
  { client, object }: MachinePerformContext,
  signal: AbortSignal,
): Promise<void> {
  const { name, uid } = machine;
  const body = { metadata: { ...(uid === undefined ? {} : { uid }), annotations: { [endpointHook]: value } } };
  const key = { namespace: object.metadata.namespace ?? "", name };
  try {
    await client.patch(Machine, key, { type: "merge", body }, { signal, fieldManager });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

type OwnStep = Extract<
  MachineStep,
  { type: "add-finalizer" | "remove-finalizer" | "record-provider-id" | "set-endpoint-hook" }
>;

/** A step that machines and stand-alone servers share. */
export async function performShared(
  step: Exclude<MachineStep, OwnStep>,
  using: ServerPerformContext,
  signal: AbortSignal,
): Promise<void> {
  if (step.type === "create-claim") return createClaim(step, using, signal);
  if (step.type === "delete-claim") return deleteClaim(step, using, signal);
  return performInCloud(step, using, signal);
}

/** A step that is a call to OpenStack. */
type CloudStep = Exclude<MachineStep, OwnStep | { type: "create-claim" | "delete-claim" }>;

/** One that changes a server which runs. */
type UpdateStep = Parameters<typeof performUpdate>[0];

const updates: ReadonlySet<string> = new Set<UpdateStep["type"]>([
  "update-port",
  "add-subports",
  "remove-subports",
  "attach-port",
  "set-server-tags",
  "set-server-metadata",
]);

function isUpdate(step: CloudStep): step is UpdateStep {
  return updates.has(step.type);
}

async function performInCloud(step: CloudStep, using: ServerPerformContext, signal: AbortSignal): Promise<void> {
  const { session } = using;
  if (!session) throw new CausewayError("IDENTITY_MISSING", "A step needs OpenStack, but there are no credentials");
  if (isUpdate(step)) return performUpdate(step, using, { session, signal });
  const { cloud, watch } = session;
  switch (step.type) {
    case "create-port":
      return createPort(step, using, { session, signal });
    case "set-port-tags": {
      await cloud.network.setTags("ports", step.id, step.tags, { signal });
      const known = watch.ports.get(step.id);
      if (known) watch.ports.observe({ ...known, tags: step.tags });
      return;
    }
    case "create-trunk":
      return createTrunk(step, using, { session, signal });
    case "delete-trunk": {
      const deletion = { signal, deletes: true };
      if (step.subports.length > 0) await cloud.network.removeSubPorts(step.id, step.subports, deletion);
      await cloud.network.trunks.delete(step.id, { signal });
      const { trunk_details: _gone, ...port } = watch.ports.get(step.portId) ?? {};
      if ("id" in port) watch.ports.observe(port as Port);
      return emit(using, "SuccessfulDeleteTrunk", `Deleted trunk ${step.id}`);
    }
    case "create-volume": {
      const { name, metadata } = step.body;
      const recover = async () =>
        (await cloud.blockStorage.volumes.all({ name }, { signal })).find(
          (v) => v.metadata[serverOwnerKey] === metadata?.[serverOwnerKey],
        );
      const made = await cloud.blockStorage.volumes.create(step.body, { signal, recover });
      watch.volumes.observe(made);
      return emit(using, "SuccessfulCreateVolume", `Created volume ${name} with id ${made.id}`);
    }
    case "create-server":
      return createServer(step, using, { session, signal });
    case "delete-server": {
      await cloud.compute.servers.delete(step.id, { signal });
      const known = watch.servers.get(step.id);
      // It goes in its own time, and holds its ports until then.
      if (known) watch.servers.observe({ ...known, "OS-EXT-STS:task_state": "deleting" });
      return emit(using, "SuccessfulDeleteServer", `Deleting server ${step.id}`);
    }
    case "associate-floating-ip": {
      const ip = await cloud.network.floatingIps.update(step.id, { port_id: step.portId }, { signal });
      watch.floatingIps.observe(ip);
      return emit(
        using,
        "SuccessfulAssociateFloatingIP",
        `Attached floating IP ${step.address} to port ${step.portId}`,
      );
    }
    case "delete-port":
      await cloud.network.ports.delete(step.id, { signal });
      watch.ports.forget(step.id);
      return emit(using, "SuccessfulDeletePort", `Deleted port ${step.name} with id ${step.id}`);
    case "delete-volume": {
      await cloud.blockStorage.volumes.delete(step.id, { signal });
      const known = watch.volumes.get(step.id);
      if (known) watch.volumes.observe({ ...known, status: "deleting" });
      return emit(using, "SuccessfulDeleteVolume", `Deleting volume ${step.name} with id ${step.id}`);
    }
  }
}

async function createPort(
  step: Extract<MachineStep, { type: "create-port" }>,
  using: ServerPerformContext,
  { session, signal }: Call,
): Promise<void> {
  const { network } = session.cloud;
  const { name, network_id, description } = step.body;
  for (const id of step.replaces ?? []) {
    const present = await network.ports.find(id, { signal });
    if (present) return session.watch.ports.observe(present);
  }
  const recover = async (): Promise<Port | undefined> =>
    (await network.ports.all({ name, network_id }, { signal })).find((p) => p.description === description);
  const made = await network.ports.create(step.body, { signal, recover });
  session.watch.ports.observe(made);
  emit(using, "SuccessfulCreatePort", `Created port ${name} with id ${made.id}`);
}

async function createTrunk(
  { body, tags }: Extract<MachineStep, { type: "create-trunk" }>,
  using: ServerPerformContext,
  { session, signal }: Call,
): Promise<void> {
  const { network } = session.cloud;
  const recover = async () => (await network.trunks.all({ port_id: body.port_id }, { signal }))[0];
  const made = await network.trunks.create(body, { signal, recover });
  if (tags.length > 0) await network.setTags("trunks", made.id, [...tags], { signal });
  const port = session.watch.ports.get(body.port_id);
  if (port) {
    const sub_ports = (body.sub_ports ?? []).map(({ port_id, segmentation_id }) => ({ port_id, segmentation_id }));
    session.watch.ports.observe({ ...port, trunk_details: { trunk_id: made.id, sub_ports } });
  }
  emit(using, "SuccessfulCreateTrunk", `Created trunk ${made.name} with id ${made.id}`);
}

async function createServer(
  step: Extract<MachineStep, { type: "create-server" }>,
  using: ServerPerformContext,
  { session, signal }: Call,
): Promise<void> {
  const { servers } = session.cloud.compute;
  const { name } = step.body;
  const mark = step.body.metadata?.[serverOwnerKey];
  const recover = async () => {
    const query = { name: `^${name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}$` };
    return (await servers.all(query, { signal })).find(
      (s) => s.name === name && !isGone(s) && s.metadata[serverOwnerKey] === mark,
    );
  };
  const data = step.secret === "" ? {} : { user_data: userData(step.secret, using) };
  const body: ServerCreate = { ...step.body, ...data };
  const made = await createTagged(body, using, (sent, microversion) =>
    servers.create(sent, { signal, recover, ...microversion }),
  );
  session.watch.servers.observe(made);
  emit(using, "SuccessfulCreateServer", `Created server ${name} with id ${made.id}`);
}

/** A new server has tags from this microversion on. */
const TAGS_AT_CREATION = "2.52";

/**
 * With a Nova that takes no tags with a new server, a server without them. One of 2.26 or later lists tags, so that
 * they are set once the server runs.
 */
async function createTagged(
  body: ServerCreate,
  using: ServerPerformContext,
  create: (body: ServerCreate, options: { readonly microversion?: string }) => Promise<Server>,
): Promise<Server> {
  if (body.tags === undefined) return create(body, {});
  try {
    return await create(body, { microversion: TAGS_AT_CREATION });
  } catch (error) {
    if (!hasCode(error, "OPENSTACK_MICROVERSION")) throw error;
  }
  const { tags: _tags, ...without } = body;
  emit(
    using,
    "TagsNotSupported",
    `Server ${body.name} is created without tags: Nova is older than ${TAGS_AT_CREATION}`,
  );
  return create(without, {});
}

/** Nova takes user data in base64, and so a Secret holds it. */
function userData(name: string, { secrets, object }: ServerPerformContext): string {
  const value = secrets.get({ namespace: object.metadata.namespace ?? "", name })?.data?.["value"];
  if (value === undefined) {
    throw new CausewayError("BOOTSTRAP_SECRET_MISSING", `Secret ${name} with the bootstrap data is gone`, {
      hint: "The bootstrap provider recreates it.",
    });
  }
  if (value.length > 65_535) {
    throw new CausewayError(
      "BOOTSTRAP_DATA_TOO_LARGE",
      `The bootstrap data in Secret ${name} is larger than Nova accepts (65535 bytes in base64)`,
      {
        hint: "Make the files of the bootstrap configuration smaller.",
      },
    );
  }
  return value;
}
