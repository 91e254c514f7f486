import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import { parseCertificate } from "./parsed-certificates.ts";
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

/** The names of a subject and of its alternative names. */
export function subjectNames(name: x509.Name, names: readonly x509.GeneralName[]): Required<CertificateSubject> {
  return {
    commonName: name.getField("CN")[0] ?? "",
    organizations: name.getField("O"),
    dnsNames: names.filter((n) => n.type === "dns").map((n) => n.value),
    ipAddresses: names.filter((n) => n.type === "ip").map((n) => n.value),
  };
}
