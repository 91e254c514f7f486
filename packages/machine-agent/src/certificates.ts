import {
  CausewayError,
  createRequest,
  readValidity,
  type CertificateSubject,
  type Clock,
  type KeyPair,
} from "@causeway/foundation";
import { CertificateSigningRequest, isAlreadyExists, isNotFound, type KubernetesClient } from "@causeway/kubernetes";

/** What a node requests in a CertificateSigningRequest. */
export interface CertificateWish {
  readonly signer: "kubernetes.io/kube-apiserver-client-kubelet" | "kubernetes.io/kubelet-serving";
  readonly subject: CertificateSubject;
  readonly usages: readonly string[];
}

/** The client certificate of a node: requested with the bootstrap token first, later by the node itself. */
export function clientWish(node: string): CertificateWish {
  return {
    signer: "kubernetes.io/kube-apiserver-client-kubelet",
    subject: { commonName: `system:node:${node}`, organizations: ["system:nodes"] },
    usages: ["digital signature", "client auth"],
  };
}

/** The certificate that a kubelet serves its logs and metrics with. */
export function servingWish(node: string, ipAddresses: readonly string[]): CertificateWish {
  return {
    signer: "kubernetes.io/kubelet-serving",
    subject: { commonName: `system:node:${node}`, organizations: ["system:nodes"], dnsNames: [node], ipAddresses },
    usages: ["digital signature", "server auth"],
  };
}

/**
 * When to ask for the next certificate: after 70 % to 90 % of the life of this one, as the kubelet's certificate
 * manager does. `random` is from 0 to 1, so that nodes made together do not ask together.
 * @see https://kubernetes.io/docs/tasks/tls/certificate-rotation/
 */
export function renewalTime(certificate: string, random: number): number {
  const { notBefore, notAfter } = readValidity(certificate);
  return notBefore + (notAfter - notBefore) * (0.7 + 0.2 * random);
}

/** How long a kubelet waits for approval before it asks again with a new request. */
const approvalTimeout = 10 * 60_000;

/**
 * Asks the cluster for a certificate and waits until it is approved and signed.
 * @throws MACHINE_CERTIFICATE_DENIED when it is denied; asks again when the request is undecided after ten minutes.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/kubelet-tls-bootstrapping/
 */
export async function requestCertificate(
  client: KubernetesClient,
  wish: CertificateWish,
  using: { clock: Clock; signal: AbortSignal },
): Promise<KeyPair> {
  for (;;) {
    const { request, key } = await createRequest(wish.subject);
    const name = await submit(client, wish, { request, signal: using.signal });
    const certificate = await awaitCertificate(client, name, using);
    if (certificate !== undefined) return { certificate, key };
  }
}

async function submit(
  client: KubernetesClient,
  wish: CertificateWish,
  sending: { request: string; signal: AbortSignal },
): Promise<string> {
  const name = `csr-${crypto.randomUUID().slice(0, 13)}`;
  const object: CertificateSigningRequest = {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: {
      request: Buffer.from(sending.request, "utf8").toString("base64"),
      signerName: wish.signer,
      usages: [...wish.usages],
    },
  };
  try {
    await client.create(CertificateSigningRequest, object, { signal: sending.signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  return name;
}

async function awaitCertificate(
  client: KubernetesClient,
  name: string,
  using: { clock: Clock; signal: AbortSignal },
): Promise<string | undefined> {
  const { clock, signal } = using;
  const deadline = clock.now() + approvalTimeout;
  for (let pause = 50; clock.now() < deadline; pause = Math.min(pause * 1.5, 2000)) {
    const current = await client
      .get(CertificateSigningRequest, { namespace: "", name }, { signal })
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
    if (current === undefined) return undefined;
    if (current.status?.certificate !== undefined)
      return Buffer.from(current.status.certificate, "base64").toString("utf8");
    const refusal = current.status?.conditions?.find((c) => c.type === "Denied" || c.type === "Failed");
    if (refusal) {
      throw new CausewayError(
        "MACHINE_CERTIFICATE_DENIED",
        `the certificate request ${name} was refused: ${refusal.message ?? refusal.reason ?? refusal.type}`,
        {
          hint: "See the events of the Machine, and kubectl describe csr in the workload cluster.",
        },
      );
    }
    await clock.sleep(pause, signal);
  }
  return undefined;
}
