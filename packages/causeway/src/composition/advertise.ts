import { createSocket } from "node:dgram";
import { Cluster, OpenStackCluster, type HostedControlPlane } from "@causeway/api";
import type { Informers } from "@causeway/kubernetes";

/** Finds the host that a control plane is reached at; undefined while it is not known yet. */
export type Advertise = (object: HostedControlPlane) => Promise<string | undefined>;

/**
 * The address of this host from which it reaches the cluster's router on the external network: machines behind that
 * router reach it there. No packet is sent to find it. Known as soon as the router has its gateway.
 */
export function advertiseTowardsRouter(informers: Informers): Advertise {
  const clusters = informers.for(Cluster);
  const infrastructures = informers.for(OpenStackCluster);
  return async (object) => {
    const { namespace = "" } = object.metadata;
    const cluster = clusters.list(namespace).find((c) => c.spec.controlPlaneRef?.name === object.metadata.name);
    const name = cluster?.spec.infrastructureRef?.name;
    const router = name === undefined ? undefined : infrastructures.get({ namespace, name })?.status?.router;
    const address = router?.ips?.find((ip) => !ip.includes(":"));
    return address === undefined ? undefined : sourceAddressTowards(address);
  };
}

function sourceAddressTowards(target: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = createSocket("udp4");
    const end = (address: string | undefined) => {
      socket.close();
      resolve(address);
    };
    socket.once("error", () => end(undefined));
    socket.connect(9, target, () => end(socket.address().address));
  });
}
