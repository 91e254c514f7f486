import { secretText, type Secret } from "@causeway/kubernetes";
import type { TunnelAccess } from "../runtime.ts";
import type { TunnelSettings } from "./options.ts";
import type { ServiceCluster } from "./service-cluster.ts";

/** The tunnel with the client certificate of the API servers in this namespace; undefined: they do not use it yet. */
export function tunnelAccess(
  { url, certificateAuthority }: TunnelSettings,
  { objects }: Pick<ServiceCluster, "objects">,
  namespace: string,
): TunnelAccess | undefined {
  const secrets = objects.find(({ type }) => type.kind === "Secret");
  const secret = secrets?.get({ namespace, name: "kube-apiserver" }) as Secret | undefined;
  const certificate = secretText(secret, "tunnel-client.crt");
  const key = secretText(secret, "tunnel-client.key");
  return certificate === undefined || key === undefined
    ? undefined
    : { url, certificateAuthority, client: { certificate, key } };
}
