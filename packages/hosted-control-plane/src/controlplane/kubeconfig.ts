import { issueCertificate, type KeyPair } from "@causeway/foundation";
import { renderKubeconfig } from "@causeway/kubernetes";
import { serialsOf } from "./roots.ts";

/** Annotations on the kubeconfig Secret that say, without opening it, whether it still serves. */
export const kubeconfigServerAnnotation = "controlplane.causeway.dev/server";
/** When it is written again, in ms since epoch. */
export const kubeconfigRenewAnnotation = "controlplane.causeway.dev/renew-at";
/** Serial numbers of the authorities that it was written with. */
export const kubeconfigRootAnnotation = "controlplane.causeway.dev/root";

/** One year, renewed at half of it: KubeadmControlPlane's figures. */
const lifetime = 365 * 24 * 3600_000;

/** A kubeconfig, and the annotations of its Secret. */
export interface AdminKubeconfig {
  readonly text: string;
  readonly annotations: Record<string, string>;
}

/** A kubeconfig of user CLUSTER-admin (CN kubernetes-admin, O system:masters). */
export async function adminKubeconfig(options: {
  cluster: string;
  server: string;
  /** The name that the server's certificate has, where it is not that of `server`. */
  serverName?: string | undefined;
  authority: KeyPair;
  /** PEM certificates that the server's certificate is verified with. */
  trusted: string;
  now: number;
}): Promise<AdminKubeconfig> {
  const { cluster, server, serverName, authority, trusted, now } = options;
  const client = await issueCertificate(authority, {
    commonName: "kubernetes-admin",
    organizations: ["system:masters"],
    usages: ["client"],
    lifetime,
    now,
  });
  const text = renderKubeconfig({
    server,
    ...(serverName === undefined ? {} : { tlsServerName: serverName }),
    ca: trusted,
    certificate: client.certificate,
    key: client.key,
    clusterName: cluster,
    userName: `${cluster}-admin`,
  });
  return {
    text,
    annotations: {
      [kubeconfigServerAnnotation]: server,
      [kubeconfigRenewAnnotation]: String(now + lifetime / 2),
      [kubeconfigRootAnnotation]: serialsOf(trusted),
    },
  };
}
