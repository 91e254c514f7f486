import { CausewayError } from "@causeway/foundation";
import { NodeServiceCapability_RPC_Type as Type, Operations, required, type NodeImpl } from "@causeway/csi";
import { labelValue, type ServerMetadata } from "@causeway/csi-openstack";
import { TOPOLOGY_ZONE } from "../names.ts";
import { volumeContext } from "../parameters.ts";
import type { ShareProtocol } from "../protocol.ts";
import type { RuntimeConfig } from "../runtime-config.ts";
import type { Connections } from "../shares/connections.ts";
import type { ProxiedDriver } from "./forward.ts";
import { mountData, type MountData } from "./mount-data.ts";

/** With what the node service works. `metadata` describes the server that it runs on. */
export interface NodeOptions {
  readonly connections: Connections;
  readonly protocol: ShareProtocol;
  readonly proxied: ProxiedDriver;
  readonly metadata: () => Promise<Pick<ServerMetadata, "uuid" | "zone">>;
  readonly runtime: () => RuntimeConfig;
  readonly withTopology?: boolean;
}

interface VolumeRequest {
  readonly volumeId: string;
  readonly volumeContext: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
}

/** Volumes that are staged on one node. */
const MOST_STAGED = 10_000;

/** The node service: calls are completed with what the proxied driver needs to mount a share, and forwarded to it. */
export function createNode(options: NodeOptions): NodeImpl {
  const { proxied, connections, protocol, runtime } = options;
  const operations = new Operations();
  /** Of volumes that were staged: NodePublishVolume needs the same, and no call to Manila. */
  const staged = new Map<string, MountData>();
  const stages = answeredOnce(async (signal) => {
    const { capabilities } = await proxied.call(({ node }) => node.nodeGetCapabilities({}, { signal }));
    return capabilities.some(({ type }) => type.case === "rpc" && type.value.type === Type.STAGE_UNSTAGE_VOLUME);
  });

  /** Other volumes are handled at the same time. */
  const read = (request: VolumeRequest, signal: AbortSignal): Promise<MountData> => {
    const { volumeId, secrets } = request;
    const context = volumeContext(request.volumeContext);
    const call = { key: `volume ${volumeId}`, request: JSON.stringify([context, secrets]), signal };
    return operations.run(call, (work) =>
      connections.use(secrets, (storage) =>
        mountData(storage, { volumeId, options: context, protocol, runtime: runtime(), signal: work }),
      ),
    );
  };
  return {
    nodeGetCapabilities: (_, { signal }) => proxied.call(({ node }) => node.nodeGetCapabilities({}, { signal })),
    async nodeGetInfo() {
      const { uuid, zone } = await options.metadata();
      if (options.withTopology !== true) return { nodeId: uuid };
      return { nodeId: uuid, accessibleTopology: { segments: { [TOPOLOGY_ZONE]: labelValue(zone) } } };
    },
    async nodeStageVolume(request, { signal }) {
      requireVolume(request);
      required(request.stagingTargetPath, "staging target path");
      // Read for each call: a key may have changed since a stage that failed, and the Secret is another volume's.
      const data = await read(request, signal);
      const forwarded = { ...request, volumeContext: data.context, secrets: data.stageSecret };
      const response = await proxied.call(({ node }) => node.nodeStageVolume(forwarded, { signal }));
      if (staged.size < MOST_STAGED) staged.set(request.volumeId, data);
      return response;
    },
    async nodePublishVolume(request, { signal }) {
      requireVolume(request);
      required(request.targetPath, "target path");
      const known = (await stages(signal)) ? staged.get(request.volumeId) : undefined;
      const { context } = known ?? (await read(request, signal));
      const forwarded = { ...request, volumeContext: context, secrets: {} };
      return proxied.call(({ node }) => node.nodePublishVolume(forwarded, { signal }));
    },
    nodeUnstageVolume(request, { signal }) {
      const id = required(request.volumeId, "volume ID");
      required(request.stagingTargetPath, "staging target path");
      staged.delete(id);
      return proxied.call(({ node }) => node.nodeUnstageVolume(request, { signal }));
    },
    nodeUnpublishVolume(request, { signal }) {
      required(request.volumeId, "volume ID");
      required(request.targetPath, "target path");
      return proxied.call(({ node }) => node.nodeUnpublishVolume(request, { signal }));
    },
    nodeGetVolumeStats: (request, { signal }) =>
      proxied.call(({ node }) => node.nodeGetVolumeStats(request, { signal })),
    nodeExpandVolume: (request, { signal }) => proxied.call(({ node }) => node.nodeExpandVolume(request, { signal })),
  };
}

function requireVolume(request: VolumeRequest & { readonly volumeCapability?: unknown }): void {
  required(request.volumeId, "volume ID");
  if (request.volumeCapability === undefined) {
    throw new CausewayError("CSI_INVALID_ARGUMENT", "The request has no volume capability.");
  }
  if (Object.keys(request.volumeContext).length === 0) {
    throw new CausewayError("CSI_INVALID_ARGUMENT", "The request has no volume context.");
  }
}

/** Asks until there is an answer, and keeps it. */
function answeredOnce(ask: (signal: AbortSignal) => Promise<boolean>): (signal: AbortSignal) => Promise<boolean> {
  let known: boolean | undefined;
  return async (signal) => (known ??= await ask(signal));
}
