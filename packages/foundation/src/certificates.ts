import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import { X509Certificate, createHash } from "node:crypto";
import { CausewayError, messageOf } from "./errors.ts";
import type { CertificateSubject } from "./pki-interface.ts";

/** What a certificate says. Instants are milliseconds since the epoch, `serial` is upper-case hexadecimal. */
export interface CertificateFacts extends CertificateSubject {
  readonly organizations: readonly string[];
  readonly dnsNames: readonly string[];
  readonly ipAddresses: readonly string[];
  readonly notBefore: number;
  readonly notAfter: number;
  readonly isAuthority: boolean;
  readonly serial: string;
}

/** The certificates of a PEM text, one by one. */
export function splitCertificates(bundle: string): string[] {
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => `${block}\n`);
}

/**
 * Reads the first certificate of a PEM text. Throws PKI_CERTIFICATE_INVALID. Facts of the texts that were read last are
 * kept: controllers ask in each round, and to read one takes milliseconds.
 */
export function readCertificate(certificatePem: string): CertificateFacts {
  const known = readFacts.get(certificatePem);
  if (known) return known;
  const facts = factsOf(certificatePem);
  if (certificatePem.length > LONGEST_KEPT) return facts;
  readFacts.set(certificatePem, facts);
  const [oldest] = readFacts.keys();
  if (readFacts.size > MOST_KEPT && oldest !== undefined) readFacts.delete(oldest);
  return facts;
}

const readFacts = new Map<string, CertificateFacts>();
/** Texts, and characters of one: 4 MiB in all. */
const MOST_KEPT = 1_000;
const LONGEST_KEPT = 4_096;

function factsOf(certificatePem: string): CertificateFacts {
  const parsed = parseCertificate(certificatePem);
  const certificate = new x509.X509Certificate(parsed.raw);
  const names = certificate.getExtension(x509.SubjectAlternativeNameExtension)?.names.items ?? [];
  return {
    ...subjectNames(certificate.subjectName, names),
    notBefore: certificate.notBefore.getTime(),
    notAfter: certificate.notAfter.getTime(),
    isAuthority: parsed.ca,
    serial: parsed.serialNumber,
  };
}

/**
 * "sha256:<hex>" of the certificate's SubjectPublicKeyInfo, as `kubeadm join --discovery-token-ca-cert-hash` takes it.
 */
export function publicKeyHash(certificatePem: string): string {
  const spki = parseCertificate(certificatePem).publicKey.export({ type: "spki", format: "der" });
  return `sha256:${createHash("sha256").update(spki).digest("hex")}`;
}

/** True if `authority` (PEM) is a certificate authority and signed `certificate` (PEM). Dates are not checked. */
export function verifyChain(certificate: string, authority: string): boolean {
  return verifyIssuer(parseCertificate(certificate), parseCertificate(authority));
}

/** The same of certificates that are parsed already: to parse one takes longer than to verify it. */
export function verifyIssuer(certificate: X509Certificate, authority: X509Certificate): boolean {
  return authority.ca && certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

/** Reads one certificate. Throws PKI_CERTIFICATE_INVALID. */
export function parseCertificate(certificatePem: string): X509Certificate {
  try {
    return new X509Certificate(certificatePem);
  } catch (cause) {
    throw new CausewayError("PKI_CERTIFICATE_INVALID", `the certificate cannot be read: ${messageOf(cause)}`, {
      cause,
      hint: "Use a PEM block of type CERTIFICATE.",
    });
  }
}

/** The names of a subject and of its alternative names. */
export function subjectNames(name: x509.Name, names: readonly x509.GeneralName[]): Required<CertificateSubject> {
  return {
    commonName: name.getField("CN")[0] ?? "",
    organizations: name.getField("O"),
    dnsNames: names.filter((n) => n.type === "dns").map((n) => n.value),
    ipAddresses: names.filter((n) => n.type === "ip").map((n) => n.value),
  };
}
