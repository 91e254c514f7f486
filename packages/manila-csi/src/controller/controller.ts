import { CausewayError, silentLog, systemClock, type Clock, type Log } from "@causeway/foundation";
import { Operations, required, type ControllerImpl, type CreateVolumeRequest } from "@causeway/csi";
import { bytesOf, gibOf, timestampOf } from "@causeway/csi-openstack";
import type { SharedFileSystem } from "@causeway/openstack";
import { TOPOLOGY_ZONE } from "../names.ts";
import { contextOfClass } from "../parameters.ts";
import { protocolOf, type ShareProtocol } from "../protocol.ts";
import { adapterOf } from "../shares/adapter.ts";
import type { Connections } from "../shares/connections.ts";
import type { ShareCall } from "./call.ts";
import { CONTROLLER_CAPABILITIES, requireFileSystem, unsupported } from "./capabilities.ts";
import { deleteShare, expandShare, foundShare } from "./change-share.ts";
import { createShare, type Placement } from "./create-share.ts";
import { grantAccess } from "./grant-access.ts";
import { placementOf, type ClaimAnnotations } from "./placement.ts";
import { shareSpec, type ShareSpec } from "./share-spec.ts";
import { createSnapshot, deleteSnapshot } from "./snapshots.ts";

/** With what the controller service works. It serves shares of one protocol. */
export interface ControllerOptions {
  readonly connections: Connections;
  readonly protocol: ShareProtocol;
  /** Recorded in the metadata of shares. */
  readonly clusterId?: string;
  readonly withTopology?: boolean;
  readonly claimAnnotations?: ClaimAnnotations;
  readonly clock?: Clock;
  readonly log?: Log;
}

type Secrets = Readonly<Record<string, string>>;

/** One call: the operation that it is part of, and its Secret. */
interface Target {
  readonly key: string;
  readonly request: string;
  readonly secrets: Secrets;
  readonly signal: AbortSignal;
}

/** The controller service: shares, their access rules and snapshots in Manila. */
export function createController(options: ControllerOptions): ControllerImpl {
  const { connections, protocol, clock = systemClock, log = silentLog } = options;
  const operations = new Operations();
  /** Several calls with different credentials are different requests: the Secret decides the project. */
  const run = <T>({ key, request, secrets, signal }: Target, work: (call: ShareCall) => Promise<T>): Promise<T> =>
    operations.run({ key, request: JSON.stringify([request, secrets]), signal }, (shared) =>
      connections.use(secrets, (storage) => work({ storage, protocol, clock, log, signal: shared })),
    );
  return {
    ...shareCalls(options, run),
    ...snapshotCalls(run),
  };
}

type Run = <T>(target: Target, work: (call: ShareCall) => Promise<T>) => Promise<T>;

function shareCalls(options: ControllerOptions, run: Run): ControllerImpl {
  const { protocol, clusterId = "", withTopology = false } = options;
  return {
    controllerGetCapabilities: () => ({
      capabilities: CONTROLLER_CAPABILITIES.map((type) => ({ type: { case: "rpc" as const, value: { type } } })),
    }),
    createVolume(request, { signal }) {
      const { secrets } = request;
      const spec = shareSpec(request, { protocol, clusterId, withTopology });
      const target = { key: `name ${spec.name}`, request: JSON.stringify(spec), secrets, signal };
      return run(target, async (call) => {
        // Before a share is created that has no possible client.
        const clients = adapterOf(protocol).clientsOf(spec.parameters, spec.name);
        const placement = await placementOf(call, request.parameters, options.claimAnnotations);
        const share = await createShare({ ...call, spec, placement });
        const rules = await grantAccess(call, share, clients);
        return createdVolume({ share, rules, spec, placement, request, withTopology });
      });
    },
    async deleteVolume({ volumeId, secrets }, { signal }) {
      const id = required(volumeId, "volume ID");
      await run({ key: `share ${id}`, request: "delete", secrets, signal }, (call) => deleteShare(call, id));
      return {};
    },
    async controllerExpandVolume({ volumeId, capacityRange, secrets }, { signal }) {
      const id = required(volumeId, "volume ID");
      if (!capacityRange) throw new CausewayError("CSI_INVALID_ARGUMENT", "The request has no capacity range.");
      const gib = gibOf(capacityRange);
      const target = { key: `share ${id}`, request: `expand ${gib}`, secrets, signal };
      const share = await run(target, (call) => expandShare(call, id, gib));
      return { capacityBytes: bytesOf(share.size), nodeExpansionRequired: false };
    },
    async validateVolumeCapabilities(request, { signal }) {
      const { volumeContext, volumeCapabilities, parameters, secrets } = request;
      const id = required(request.volumeId, "volume ID");
      if (volumeCapabilities.length === 0) requireFileSystem(volumeCapabilities);
      const target = { key: `validate ${id}`, request: "validate", secrets, signal };
      const share = await run(target, (call) => foundShare(call, id));
      requireUsable(share, protocol);
      const why = volumeCapabilities.map(unsupported).find((each) => each !== undefined);
      if (why !== undefined) return { message: `Share ${id} does not support a requested capability: ${why}.` };
      return { confirmed: { volumeContext, volumeCapabilities, parameters } };
    },
  };
}

function snapshotCalls(run: Run): ControllerImpl {
  return {
    async createSnapshot({ name, sourceVolumeId, secrets }, { signal }) {
      const spec = { name: required(name, "name"), shareId: required(sourceVolumeId, "source volume ID") };
      const target = { key: `snapshot name ${spec.name}`, request: spec.shareId, secrets, signal };
      const { snapshot, gib, ready } = await run(target, (call) => createSnapshot(call, spec));
      return {
        snapshot: {
          snapshotId: snapshot.id,
          sourceVolumeId: spec.shareId,
          sizeBytes: bytesOf(gib),
          creationTime: timestampOf(snapshot.created_at),
          readyToUse: ready,
        },
      };
    },
    async deleteSnapshot({ snapshotId, secrets }, { signal }) {
      const id = required(snapshotId, "snapshot ID");
      await run({ key: `snapshot ${id}`, request: "delete", secrets, signal }, (call) => deleteSnapshot(call, id));
      return {};
    },
  };
}

function requireUsable({ id, status, share_proto }: SharedFileSystem.Share, protocol: ShareProtocol): void {
  if (status === "creating") throw new CausewayError("CSI_UNAVAILABLE", `Share ${id} is not yet available.`);
  if (status !== "available") {
    throw new CausewayError("CSI_FAILED_PRECONDITION", `Share ${id} has status ${status} instead of available.`);
  }
  if (protocolOf(share_proto) === protocol) return;
  throw new CausewayError(
    "CSI_INVALID_ARGUMENT",
    `Share ${id} has protocol ${share_proto}; this driver serves ${protocol}.`,
  );
}

interface Created {
  readonly share: SharedFileSystem.Share;
  readonly rules: readonly SharedFileSystem.AccessRule[];
  readonly spec: ShareSpec;
  readonly placement: Placement;
  readonly request: CreateVolumeRequest;
  readonly withTopology: boolean;
}

/** The response to CreateVolume. */
function createdVolume({ share, rules, spec, placement, request, withTopology }: Created) {
  const { sameHost, differentHost } = placement;
  const group = share.share_group_id ?? "";
  const context = {
    ...contextOfClass(request.parameters),
    shareID: share.id,
    shareAccessIDs: rules.map(({ id }) => id).join(","),
    ...(group !== "" && { groupID: group }),
    ...(sameHost !== "" && { affinity: sameHost }),
    ...(differentHost !== "" && { antiAffinity: differentHost }),
  };
  // Every requested zone must reach the share; only autoTopology binds it to one.
  const preferred = withTopology ? (request.accessibilityRequirements?.preferred ?? []) : [];
  const own = spec.isZoneOfNode ? [{ segments: { [TOPOLOGY_ZONE]: spec.zone ?? "" } }] : undefined;
  return {
    volume: {
      volumeId: share.id,
      capacityBytes: bytesOf(spec.gib),
      volumeContext: context,
      accessibleTopology: own ?? preferred,
      ...(request.volumeContentSource && { contentSource: request.volumeContentSource }),
    },
  };
}
