import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import { CausewayError } from "./errors.ts";
import { parseCertificate } from "./parsed-certificates.ts";
import type { KeyPair } from "./pki-interface.ts";
import { pem, serial, signingKey, verifiedRequest } from "./pki.ts";

const DAY = 86_400_000;
const { digitalSignature, keyEncipherment, nonRepudiation } = x509.KeyUsageFlags;
/** What the key of a leaf may be used for, as Magnum signs it. */
const ALLOWED_USAGES = digitalSignature | keyEncipherment | nonRepudiation;
const USAGES = digitalSignature | keyEncipherment;
const { clientAuth, serverAuth } = x509.ExtendedKeyUsage;

const KEY_USAGE = "2.5.29.15";
const EXTENDED_KEY_USAGE = "2.5.29.37";
const BASIC_CONSTRAINTS = "2.5.29.19";
/** Copied as they are: the subject's alternative names, and the identifier of its key. */
const COPIED: readonly string[] = ["2.5.29.17", "2.5.29.14"];

/**
 * Signs a PKCS #10 request as OpenStack's Magnum does: the whole subject in its order, its alternative names, and the
 * usages that it asks for, of which a request without any gets those of clients and servers. Valid from a day before
 * `now`; `lifetime` is in milliseconds. Never for an authority. Throws PKI_AUTHORITY_INVALID, and PKI_REQUEST_INVALID
 * also for a critical extension, or a critical usage of the key, that is not supported; others of them are left out.
 */
export async function signAsRequested(
  authority: KeyPair,
  requestPem: string,
  { lifetime, now }: { readonly lifetime: number; readonly now: number },
): Promise<string> {
  const request = await verifiedRequest(requestPem);
  const issuer = new x509.X509Certificate(parseCertificate(authority.certificate).raw);
  const { key, algorithm } = await signingKey(authority);
  const certificate = await x509.X509CertificateGenerator.create({
    notBefore: new Date(now - DAY),
    notAfter: new Date(now + lifetime),
    subject: request.subjectName,
    issuer: issuer.subjectName,
    serialNumber: serial(),
    publicKey: request.publicKey,
    signingKey: key,
    signingAlgorithm: algorithm,
    extensions: [
      ...requestedOf(request.extensions),
      new x509.BasicConstraintsExtension(false, undefined, true),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return pem(certificate.toString("pem"));
}

function requestedOf(extensions: readonly x509.Extension[]): readonly x509.Extension[] {
  const twice = extensions.find(({ type }, at) => extensions.findIndex((each) => each.type === type) !== at);
  if (twice !== undefined) throw refused(`the extension ${twice.type} is in it twice`);
  const handled = [KEY_USAGE, EXTENDED_KEY_USAGE, BASIC_CONSTRAINTS, ...COPIED];
  const foreign = extensions.find(({ type, critical }) => critical && !handled.includes(type));
  if (foreign !== undefined) throw refused(`the critical extension ${foreign.type} is not supported`);
  const purposes = extensions.find(({ type }) => type === EXTENDED_KEY_USAGE);
  return [
    usagesOf(extensions.find((each) => each instanceof x509.KeyUsagesExtension)),
    purposes ?? new x509.ExtendedKeyUsageExtension([clientAuth, serverAuth]),
    ...extensions.filter(({ type }) => COPIED.includes(type)),
  ];
}

function usagesOf(requested: x509.KeyUsagesExtension | undefined): x509.Extension {
  if (requested === undefined) return new x509.KeyUsagesExtension(USAGES, true);
  if (requested.critical && (requested.usages & ~ALLOWED_USAGES) !== 0)
    throw refused(
      "its key may be used for digitalSignature, keyEncipherment and contentCommitment only, and a critical extension asks for more",
    );
  // An extension without a usage is none of RFC 5280.
  return new x509.KeyUsagesExtension(requested.usages & ALLOWED_USAGES || USAGES, requested.critical);
}

function refused(why: string): CausewayError {
  return new CausewayError("PKI_REQUEST_INVALID", `the certificate request cannot be signed: ${why}`, {
    hint: "Create the request with extensions keyUsage, extendedKeyUsage, subjectAltName and basicConstraints only.",
  });
}
