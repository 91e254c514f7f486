import { X509Certificate } from "node:crypto";
import { dialRefusal, messageOf, parseCidr, parseIp, splitCertificates } from "@causeway/foundation";

/** Certificates of one authority: to read one takes a millisecond. */
const MOST_CERTIFICATES = 16;

/** Curves of keys that kube-apiserver reads. */
const CURVES = ["secp224r1", "prime256v1", "secp384r1", "secp521r1"];

/** Why kube-apiserver, which would not start, cannot use this PEM text as an authority; undefined: it can. */
export function certificatesProblem(pem: string): string | undefined {
  const all = splitCertificates(pem);
  if (all.length === 0) return "it has no PEM certificate";
  if (all.length > MOST_CERTIFICATES)
    return `it has ${all.length} certificates, and ${MOST_CERTIFICATES} at most are read`;
  try {
    for (const each of all) {
      const problem = certificateProblem(new X509Certificate(each));
      if (problem !== undefined) return problem;
    }
    return undefined;
  } catch (error) {
    return `a certificate in it cannot be read: ${messageOf(error)}`;
  }
}

/** What OpenSSL reads, and kube-apiserver does not: it would not start. */
function certificateProblem({ serialNumber, publicKey }: X509Certificate): string | undefined {
  const { namedCurve } = publicKey.asymmetricKeyDetails ?? {};
  if (publicKey.asymmetricKeyType === "ec" && !CURVES.includes(namedCurve ?? ""))
    return `kube-apiserver reads no certificate with a key of curve ${namedCurve ?? "of its own"}; use P-256, P-384 or P-521`;
  if (serialNumber.startsWith("-")) return "kube-apiserver reads no certificate with a negative serial number";
  return undefined;
}

/** What the operator permits, and by which option. */
export interface PermittedNetworks {
  readonly networks: readonly string[];
  readonly option: string;
}

/** Why a server that a tenant names is in none of these networks. Names are resolved by the API server: undefined. */
export function placeProblem(url: string, { networks, option }: PermittedNetworks): string | undefined {
  const { hostname, port } = URL.parse(url) ?? {};
  if (hostname === undefined) return "it is no URL";
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const allow = networks.flatMap((each) => parseCidr(each) ?? []);
  const why = dialRefusal({ allow, deny: [], names: undefined }, host, Number(port || "443"));
  if (why === undefined) return undefined;
  return parseIp(host) === undefined ? why : `${why}; the operator's option ${option} permits networks`;
}
