import type { OpenStackDeployment } from "@causeway/api";
import type { Clock, Metrics } from "@causeway/foundation";
import { connectCloud, type Cloud } from "@causeway/openstack";
import { unknownService, type ComputeService, type HostAgent, type HostedServer } from "./model.ts";

/** What the maintenance of compute nodes asks of Nova, as an administrator. */
export interface Nova {
  services(signal: AbortSignal): Promise<ComputeService[]>;
  /** The servers of every project on these hosts. */
  servers(hosts: readonly string[], signal: AbortSignal): Promise<HostedServer[]>;
  enable(service: string, signal: AbortSignal): Promise<void>;
  disable(service: string, reason: string, signal: AbortSignal): Promise<void>;
  forceDown(service: string, isDown: boolean, signal: AbortSignal): Promise<void>;
  /** Agents of Neutron on these hosts. */
  agents(hosts: readonly string[], signal: AbortSignal): Promise<HostAgent[]>;
  /**
   * Deletes agents and the compute service of a host: Nova deletes its resource provider with it, and what evacuated
   * servers still have allocated there. Agents are first: by the service it is found again by who begins again.
   */
  remove(host: string, service: string, agents: readonly string[], signal: AbortSignal): Promise<void>;
  move(order: "live-migrate" | "migrate" | "evacuate", server: string, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** What a client of the deployment's APIs needs: the administrator's password, and whom it trusts (PEM). */
export interface NovaAccess {
  readonly password: string;
  readonly authorities: string | undefined;
}

/** Opens Nova of a deployment as its administrator. */
export type OpenNova = (deployment: OpenStackDeployment, access: NovaAccess) => Nova;

/** Through the cluster's own names: the endpoints that users have may be behind what is being maintained. */
export function novaInside(using: { readonly clock: Clock; readonly metrics?: Metrics | undefined }): OpenNova {
  return ({ metadata, spec }, { password, authorities }) => {
    const domain = { id: "default" };
    const cloud = connectCloud(
      {
        name: `${metadata.namespace}/${metadata.name}`,
        authUrl: `${spec.tls ? "https" : "http"}://${metadata.name}-keystone-api.${metadata.namespace}.svc:5000/v3`,
        ...(authorities === undefined ? {} : { tls: { ca: authorities } }),
        auth: { type: "password", username: "admin", userDomain: domain, password },
        scope: { projectName: "admin", projectDomain: domain },
        region: spec.region,
        interface: "internal",
      },
      { clock: using.clock, ...(using.metrics ? { metrics: using.metrics } : {}) },
    );
    return novaOf(cloud);
  };
}

/** What maintenance needs of a cloud, through the SDK. */
export function novaOf(cloud: Cloud): Nova {
  const { compute, network, placement } = cloud;
  const { hosts, servers, serverActions } = compute;
  return {
    async services(signal) {
      const all = await hosts.all({ binary: "nova-compute" }, { signal });
      return all.map(({ id, host, zone, state, status, disabled_reason, forced_down }) =>
        // From microversion 2.69 on, of a cell that Nova does not reach.
        (status as string) === "UNKNOWN"
          ? unknownService(host)
          : {
              id,
              host,
              zone,
              isUp: state === "up",
              isEnabled: status === "enabled",
              reason: disabled_reason ?? "",
              isForcedDown: forced_down === true,
            },
      );
    },
    async servers(on, signal) {
      const found: HostedServer[] = [];
      for (const host of on) {
        for (const server of await servers.all({ all_tenants: true, host }, { signal }))
          found.push({
            id: server.id,
            name: server.name,
            host: server["OS-EXT-SRV-ATTR:host"] ?? host,
            status: server.status,
            task: server["OS-EXT-STS:task_state"] ?? "",
          });
      }
      return found;
    },
    enable: (id, signal) => compute.changeHost(id, { status: "enabled" }, { signal }),
    disable: (id, reason, signal) =>
      compute.changeHost(id, { status: "disabled", disabled_reason: reason }, { signal }),
    forceDown: (id, forced_down, signal) => compute.changeHost(id, { forced_down }, { signal }),
    async agents(on, signal) {
      const found: HostAgent[] = [];
      for (const host of on)
        for (const { id, alive } of await network.agents.all({ host }, { signal }))
          found.push({ id, host, isAlive: alive });
      return found;
    },
    async remove(host, service, agents, signal) {
      for (const id of agents) await network.agents.delete(id, { signal });
      await compute.deleteHost(service, { signal });
      // Where Nova could not ask Placement; that refuses while something is allocated.
      for (const { uuid } of await placement.resourceProviders.all({ name: host }, { signal }))
        await placement.resourceProviders.delete(uuid, { signal });
    },
    move: (order, id, signal) =>
      order === "live-migrate"
        ? serverActions.liveMigrate(id, { signal })
        : order === "migrate"
          ? serverActions.migrate(id, { signal })
          : serverActions.evacuate(id, { signal }),
    close: () => cloud.close(),
  };
}
