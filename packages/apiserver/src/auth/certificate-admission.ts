import { readRequest } from "@causeway/foundation";
import type { AdmissionPlugin, Attempt } from "../contract/admission.ts";
import { at, same, text } from "../json/json.ts";
import { forbidden } from "../errors/status.ts";

const GROUP = "certificates.k8s.io";
const PLURALS = ["certificatesigningrequests", "clustertrustbundles"];
const CLIENT = "kubernetes.io/kube-apiserver-client";

/**
 * Who approves or signs requests of a signer must be allowed to, for that signer; who publishes its trust, to attest;
 * and no request may ask for a client certificate of system:masters. Source: kubernetes.io, "Admission Controllers":
 * CertificateApproval, CertificateSigning, CertificateSubjectRestriction, ClusterTrustBundleAttest.
 */
export const certificateAdmission: AdmissionPlugin = {
  concerns: ({ resource }, operation, phase) =>
    phase === "validate" && operation !== "DELETE" && resource.group === GROUP && PLURALS.includes(resource.plural),
  async validate(attempt) {
    const { call, object, old } = attempt;
    const why = call.resource.plural === "clustertrustbundles" ? attestation(attempt) : await requestFault(attempt);
    if (why !== undefined) throw forbidden(call.resource, (old ?? object)?.metadata.name ?? call.name, why);
  },
};

async function requestFault(attempt: Attempt): Promise<string | undefined> {
  const { call, operation, object, old } = attempt;
  // What was requested counts, not what an update makes of it.
  const signer = text(at(old, "spec", "signerName"));
  if (operation === "CREATE") return call.subresource === "" ? subjectFault(attempt) : undefined;
  if (call.subresource === "approval") {
    return mayFor(attempt, "approve", signer)
      ? undefined
      : `user not permitted to approve requests with signerName "${signer}"`;
  }
  if (call.subresource !== "status") return undefined;
  const unchanged = ["certificate", "conditions"].every((f) => same(at(object, "status", f), at(old, "status", f)));
  if (unchanged || mayFor(attempt, "sign", signer)) return undefined;
  return `user not permitted to sign requests with signerName "${signer}"`;
}

async function subjectFault({ object }: Attempt): Promise<string | undefined> {
  if (text(at(object, "spec", "signerName")) !== CLIENT) return undefined;
  const pem = Buffer.from(text(at(object, "spec", "request")), "base64").toString();
  const subject = await readRequest(pem).catch(() => undefined);
  if (!subject?.organizations?.includes("system:masters")) return undefined;
  return `use of ${CLIENT} signer with system:masters group is not allowed`;
}

function attestation(attempt: Attempt): string | undefined {
  const now = text(at(attempt.object, "spec", "signerName"));
  const was = text(at(attempt.old, "spec", "signerName"));
  if ((now === "" && was === "") || mayFor(attempt, "attest", now)) return undefined;
  return `user not permitted to attest for signerName "${now}"`;
}

/** Whether the user may do this for a signer: by its name, or by "domain/*". */
function mayFor({ call }: Attempt, verb: string, signer: string): boolean {
  const { user, cluster } = call;
  const about = { user, verb, namespace: "", group: GROUP, version: "*", plural: "signers", subresource: "" };
  const domain = `${signer.split("/")[0] ?? ""}/*`;
  return [signer, domain].some((name) => cluster.access.allows({ ...about, name }));
}
