import {
  CausewayError,
  messageOf,
  readCertificate,
  requestsAuthority,
  signAsRequested,
  type KeyPair,
} from "@causeway/foundation";
import { keyOf, Secret, secretText, timestamp } from "@causeway/kubernetes";
import { MagnumCluster } from "@causeway/api";
import { enforce, linksOf, type Answer, type Api, type Call } from "../call/call.ts";
import { conflict, invalid, MagnumError } from "../wire/error.ts";
import { readFields, type Fields } from "../wire/fields.ts";
import { shownStatus } from "./cluster-view.ts";
import { accepted } from "./clusters.ts";
import { asBadRequest, findCluster, requireHere, requireNotMigrating, targetOf } from "./find-cluster.ts";

const fields: Fields = {
  cluster_uuid: { type: "text", max: 255 },
  csr: { type: "text", min: 1, max: 65_536 },
  ca_cert_type: { type: "text", max: 255 },
  pem: { type: "text", readonly: true },
  links: { type: "texts", readonly: true },
  created_at: { type: "text", readonly: true },
  updated_at: { type: "text", readonly: true },
};

/** Five years, as Magnum signs. */
const LIFETIME = 5 * 365 * 86_400_000;

const view = ({ spec }: MagnumCluster, call: Call, more: Readonly<Record<string, unknown>>) => ({
  cluster_uuid: spec.uuid,
  ...more,
  links: linksOf(call, `certificates/${spec.uuid}`),
});

/** GET certificates/ID: the certificate of the cluster's authority, in PEM. @throws MagnumError 403, 404, 409 */
export async function showCertificate(api: Api, call: Call): Promise<Answer> {
  const cluster = await findCluster(api, call, call.names["cluster"] ?? "");
  enforce(api, call, "certificate:get", targetOf(cluster));
  const { certificate } = await authorityOf(api, call, cluster, call.query.get("ca_cert_type"));
  return { status: 200, body: view(cluster, call, { pem: certificate }) };
}

/**
 * POST certificates: signs a certificate request for five years, with its subject and what else it may ask for. Each
 * one is logged.
 * @throws MagnumError 400, 403, 404, 409
 */
export async function signCertificate(api: Api, call: Call): Promise<Answer> {
  const values = readFields(call.body, fields, "certificate");
  const { cluster_uuid: ident, csr, ca_cert_type: type } = values;
  if (typeof ident !== "string")
    throw invalid("Invalid input for field/attribute cluster_uuid. Value: 'None'. Mandatory field missing.");
  if (typeof csr !== "string")
    throw invalid("Invalid input for field/attribute csr. Value: 'None'. Mandatory field missing.");
  const cluster = await asBadRequest(() => findCluster(api, call, ident));
  enforce(api, call, "certificate:create", targetOf(cluster));
  const authority = await authorityOf(api, call, cluster, typeof type === "string" ? type : null);
  try {
    if (await requestsAuthority(csr))
      throw invalid("Received invalid csr: it asks for a certificate authority; create it without CA:TRUE.");
    const pem = await signAsRequested(authority, csr, { lifetime: LIFETIME, now: api.clock.now() });
    api.log.info("a certificate was signed for a user of the Magnum API", {
      cluster: cluster.spec.uuid,
      user: call.caller.userId,
      serial: readCertificate(pem).serial,
    });
    return {
      status: 201,
      body: view(cluster, call, { csr, pem, ...(typeof type === "string" ? { ca_cert_type: type } : {}) }),
    };
  } catch (error) {
    if (error instanceof CausewayError && error.code === "PKI_REQUEST_INVALID")
      throw invalid(`Received invalid csr: ${messageOf(error)}.`);
    throw error;
  }
}

/**
 * During a rotation the certificate is that of the authority that signs, followed by the other one that is trusted: a
 * kubeconfig with both works before and after. What is signed is signed by the first.
 *
 * The authority of a kind; any name but those of etcd and the front proxy is the cluster's. @throws MagnumError 404,
 * 409
 */
async function authorityOf(api: Api, call: Call, cluster: MagnumCluster, type: string | null): Promise<KeyPair> {
  if (type === "etcd") throw new MagnumError(404, "A hosted control plane has no certificate authority of etcd.");
  requireHere(cluster);
  const purpose = type === "front-proxy" || type === "front_proxy" ? "proxy" : "ca";
  const { namespace = "", name } = cluster.metadata;
  const secret = await api.store.client.find(
    Secret,
    { namespace, name: `${name}-${purpose}` },
    { signal: call.signal },
  );
  const [certificate, key] = [secretText(secret, "tls.crt"), secretText(secret, "tls.key")];
  if (certificate === undefined || key === undefined)
    throw new MagnumError(404, `The certificate authority of cluster ${cluster.spec.name} does not exist yet.`);
  return { certificate, key };
}

/**
 * PATCH certificates/ID: a rotation of the cluster's authority begins; its machines are replaced in its course.
 * @throws MagnumError 400, 403, 404, 409
 */
export async function rotateAuthority(api: Api, call: Call): Promise<Answer> {
  const cluster = await findCluster(api, call, call.names["cluster"] ?? "");
  enforce(api, call, "certificate:rotate_ca", targetOf(cluster));
  requireRotatable(api, cluster);
  const changed = await api.store.change(
    MagnumCluster,
    keyOf(cluster),
    (current) => {
      // Of two requests at the same time, one finds the other's change in progress.
      requireComplete(current);
      const now = api.clock.now();
      const before = Date.parse(current.spec.rotateAuthoritiesAfter ?? "") || 0;
      // Times have seconds: the next one is after whatever was made until now.
      const rotateAuthoritiesAfter = timestamp(Math.max(now, before) + 1_000);
      return { ...current, spec: { ...current.spec, rotateAuthoritiesAfter, updatedAt: timestamp(now) } };
    },
    call.signal,
  );
  return accepted(changed);
}

/** @throws MagnumError 400, or 409 during a migration */
function requireComplete(cluster: MagnumCluster): void {
  requireNotMigrating(cluster);
  const { status } = shownStatus(cluster);
  if (!status.endsWith("_COMPLETE")) throw invalid(`Updating a cluster when status is "${status}" is not supported.`);
}

/** @throws MagnumError 400; 409 when the control plane does not rotate, or rotates for its operator */
function requireRotatable(api: Api, cluster: MagnumCluster): void {
  requireComplete(cluster);
  const phase = api.store.sources.controlPlanes.get(keyOf(cluster))?.status?.authorities?.phase;
  if (phase === "Current") return;
  throw conflict(
    phase === undefined
      ? `The control plane of cluster ${cluster.spec.name} does not rotate its certificate authority.`
      : `The certificate authority of cluster ${cluster.spec.name} is being rotated by its operator.`,
  );
}
