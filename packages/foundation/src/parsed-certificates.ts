/* What Node reads of certificates by itself: a program that needs no more loads no library for it. */
import { createHash, X509Certificate } from "node:crypto";
import { CausewayError, messageOf } from "./errors.ts";

/** The certificates of a PEM text, one by one. */
export function splitCertificates(bundle: string): string[] {
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => `${block}\n`);
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

/**
 * From when to when a certificate (PEM) is valid, in milliseconds since the epoch: without its names, in a fiftieth of
 * the time of `readCertificate`. Throws PKI_CERTIFICATE_INVALID.
 */
export function readValidity(certificatePem: string): { readonly notBefore: number; readonly notAfter: number } {
  const { validFromDate, validToDate } = parseCertificate(certificatePem);
  return { notBefore: validFromDate.getTime(), notAfter: validToDate.getTime() };
}

/** True if a certificate (PEM) is for a host name and all of these addresses. Throws PKI_CERTIFICATE_INVALID. */
export function isCertificateFor(certificatePem: string, host: string, addresses: readonly string[]): boolean {
  const certificate = parseCertificate(certificatePem);
  const exactly = { subject: "never", wildcards: false } as const;
  return (
    certificate.checkHost(host, exactly) !== undefined &&
    addresses.every((address) => certificate.checkIP(address) !== undefined)
  );
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
