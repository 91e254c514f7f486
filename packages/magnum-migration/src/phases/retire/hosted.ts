import { CausewayError } from "@causeway/foundation";
import { HostedControlPlane } from "@causeway/api";
import { Secret, secretText } from "@causeway/kubernetes";
import type { EtcdAccess } from "../../etcd/client.ts";
import type { MigrationRecord } from "../../record/record.ts";
import type { Tools } from "../../phase.ts";

/** Where the hosted control plane's etcd is, and what it accepts. @throws MIGRATE_NO_MEMBER */
export async function hostedUrlOf(
  { management }: Pick<Tools, "management">,
  { namespace, name }: MigrationRecord,
  signal: AbortSignal,
): Promise<{ readonly peerURL: string; readonly clientURL: string; readonly tls: Omit<EtcdAccess, "urls"> }> {
  const object = await management.find(HostedControlPlane, { namespace, name }, { signal });
  const secret = await management.find(Secret, { namespace, name: `${name}-etcd` }, { signal });
  const { peerURL, clientURL } = object?.status?.datastore ?? {};
  const [authority, certificate, key] = ["ca.crt", "client.crt", "client.key"].map((one) => secretText(secret, one));
  if (
    peerURL === undefined ||
    clientURL === undefined ||
    authority === undefined ||
    certificate === undefined ||
    key === undefined
  )
    throw new CausewayError("MIGRATE_NO_MEMBER", `HostedControlPlane ${namespace}/${name} reports no etcd`, {
      hint: "Read its condition Available; its controller may not run.",
    });
  return { peerURL, clientURL, tls: { authority, certificate, key } };
}
