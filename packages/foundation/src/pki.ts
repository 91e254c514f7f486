import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import { createPrivateKey, randomBytes, webcrypto } from "node:crypto";
import { subjectNames } from "./certificates.ts";
import { systemClock } from "./clock.ts";
import { CausewayError, messageOf } from "./errors.ts";
import { parseCertificate } from "./parsed-certificates.ts";
import type { CertificateOptions, CertificateSubject, KeyPair } from "./pki-interface.ts";

const EC = { name: "ECDSA", namedCurve: "P-256" } as const;
const CLOCK_SKEW = 5 * 60_000;

/** Makes a self-signed certificate authority (ECDSA P-256). `lifetime` is in milliseconds from `now`. */
export async function createAuthority(options: {
  commonName: string;
  lifetime: number;
  now?: number;
}): Promise<KeyPair> {
  const keys = await webcrypto.subtle.generateKey(EC, true, ["sign", "verify"]);
  const usage = x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature;
  const extensions = [
    new x509.BasicConstraintsExtension(true, undefined, true),
    new x509.KeyUsagesExtension(usage | x509.KeyUsageFlags.keyEncipherment, true),
    await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    new x509.SubjectAlternativeNameExtension([{ type: "dns", value: options.commonName }]),
  ];
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(options.lifetime, options.now),
    name: nameOf({ commonName: options.commonName }),
    serialNumber: serial(),
    keys,
    extensions,
    signingAlgorithm: { name: "ECDSA", hash: "SHA-256" },
  });
  return { certificate: pem(certificate.toString("pem")), key: await privatePem(keys.privateKey) };
}

/** Issues a certificate with a new key, signed by `authority`. Throws PKI_AUTHORITY_INVALID. */
export async function issueCertificate(authority: KeyPair, options: CertificateOptions): Promise<KeyPair> {
  const keys = await webcrypto.subtle.generateKey(EC, true, ["sign", "verify"]);
  const certificate = await sign(authority, keys.publicKey, options);
  return { certificate, key: await privatePem(keys.privateKey) };
}

/** Makes a PKCS #10 request and the key it was made with. */
export async function createRequest(subject: CertificateSubject): Promise<{ request: string; key: string }> {
  const keys = await webcrypto.subtle.generateKey(EC, true, ["sign", "verify"]);
  const names = alternativeNames(subject);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    name: nameOf(subject),
    keys,
    signingAlgorithm: { name: "ECDSA", hash: "SHA-256" },
    ...(names ? { extensions: [names] } : {}),
  });
  return { request: pem(request.toString("pem")), key: await privatePem(keys.privateKey) };
}

/** Reads a PKCS #10 request and checks that its own key signed it. Throws PKI_REQUEST_INVALID. */
export async function readRequest(requestPem: string): Promise<CertificateSubject> {
  return subjectOf(await verifiedRequest(requestPem));
}

const AUTHORITY_USAGES = x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign;

/**
 * Whether a PKCS #10 request asks for a certificate authority, by CA:TRUE or the usages of its key. `signRequest` signs
 * it for a leaf all the same. Throws PKI_REQUEST_INVALID.
 */
export async function requestsAuthority(requestPem: string): Promise<boolean> {
  const { extensions } = await verifiedRequest(requestPem);
  return extensions.some(
    (one) =>
      (one instanceof x509.BasicConstraintsExtension && one.ca) ||
      (one instanceof x509.KeyUsagesExtension && (one.usages & AUTHORITY_USAGES) !== 0),
  );
}

/**
 * Signs a PKCS #10 request unchanged: its subject, names and key. Throws PKI_REQUEST_INVALID, PKI_AUTHORITY_INVALID.
 */
export async function signRequest(
  authority: KeyPair,
  requestPem: string,
  options: Pick<CertificateOptions, "usages" | "lifetime" | "now">,
): Promise<string> {
  const request = await verifiedRequest(requestPem);
  return sign(authority, request.publicKey, { ...subjectOf(request), ...options });
}

async function sign(authority: KeyPair, publicKey: x509.PublicKeyType, options: CertificateOptions): Promise<string> {
  const issuer = new x509.X509Certificate(parseCertificate(authority.certificate).raw);
  const { key, algorithm } = await signingKey(authority);
  const names = alternativeNames(options);
  const purposes = options.usages.map((u) =>
    u === "client" ? x509.ExtendedKeyUsage.clientAuth : x509.ExtendedKeyUsage.serverAuth,
  );
  const usage = x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment;
  const certificate = await x509.X509CertificateGenerator.create({
    ...validity(options.lifetime, options.now),
    subject: nameOf(options),
    issuer: issuer.subjectName,
    serialNumber: serial(),
    publicKey,
    signingKey: key,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.KeyUsagesExtension(usage, true),
      new x509.ExtendedKeyUsageExtension(purposes),
      new x509.BasicConstraintsExtension(false, undefined, true),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      ...(names ? [names] : []),
    ],
  });
  return pem(certificate.toString("pem"));
}

/** The key of an authority, and how it signs. Throws PKI_AUTHORITY_INVALID. */
export async function signingKey(
  authority: KeyPair,
): Promise<{ key: webcrypto.CryptoKey; algorithm: webcrypto.EcdsaParams }> {
  try {
    const key = createPrivateKey(authority.key);
    const der = key.export({ type: "pkcs8", format: "der" });
    if (key.asymmetricKeyType === "rsa") {
      const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };
      return { key: await webcrypto.subtle.importKey("pkcs8", der, algorithm, false, ["sign"]), algorithm };
    }
    const curves: Record<string, [curve: string, hash: string]> = {
      prime256v1: ["P-256", "SHA-256"],
      secp384r1: ["P-384", "SHA-384"],
      secp521r1: ["P-521", "SHA-512"],
    };
    const found = curves[key.asymmetricKeyDetails?.namedCurve ?? ""];
    if (!found) throw new Error(`keys of type ${key.asymmetricKeyType ?? "unknown"} are not supported`);
    const [namedCurve, hash] = found;
    const imported = await webcrypto.subtle.importKey("pkcs8", der, { name: "ECDSA", namedCurve }, false, ["sign"]);
    return { key: imported, algorithm: { name: "ECDSA", hash } };
  } catch (cause) {
    throw new CausewayError(
      "PKI_AUTHORITY_INVALID",
      `the authority's private key cannot be read: ${messageOf(cause)}`,
      {
        cause,
        hint: "Use an unencrypted PEM key: RSA, or ECDSA on P-256, P-384 or P-521.",
      },
    );
  }
}

/** A PKCS #10 request that its own key signed. Throws PKI_REQUEST_INVALID. */
export async function verifiedRequest(requestPem: string): Promise<x509.Pkcs10CertificateRequest> {
  let request: x509.Pkcs10CertificateRequest;
  let valid: boolean;
  try {
    request = new x509.Pkcs10CertificateRequest(requestPem);
    valid = await request.verify();
    // Extensions are read when they are first used.
    void request.extensions.length;
  } catch (cause) {
    throw new CausewayError("PKI_REQUEST_INVALID", `the certificate request cannot be read: ${messageOf(cause)}`, {
      cause,
      hint: "Use a PEM block of type CERTIFICATE REQUEST (PKCS #10).",
    });
  }
  if (!valid) {
    throw new CausewayError("PKI_REQUEST_INVALID", "the certificate request is not signed by its own key", {
      hint: "Create the request again with the private key that it is for.",
    });
  }
  return request;
}

function subjectOf(request: x509.Pkcs10CertificateRequest): Required<CertificateSubject> {
  const extension = request.extensions.find((e) => e instanceof x509.SubjectAlternativeNameExtension);
  return subjectNames(request.subjectName, extension?.names.items ?? []);
}

function nameOf(subject: CertificateSubject): x509.Name {
  const attributes = (subject.organizations ?? []).map((o) => ({ O: [{ utf8String: o }] }));
  return new x509.Name([...attributes, { CN: [{ utf8String: subject.commonName }] }] as x509.JsonNameParams);
}

function alternativeNames(subject: CertificateSubject): x509.SubjectAlternativeNameExtension | undefined {
  const names = [
    ...(subject.dnsNames ?? []).map((value) => ({ type: "dns" as const, value })),
    ...(subject.ipAddresses ?? []).map((value) => ({ type: "ip" as const, value })),
  ];
  return names.length > 0 ? new x509.SubjectAlternativeNameExtension(names) : undefined;
}

function validity(lifetime: number, now = systemClock.now()): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(now - CLOCK_SKEW), notAfter: new Date(now + lifetime) };
}

/** 127 random bits: positive and never shortened (RFC 5280, 4.1.2.2). */
export function serial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.toString("hex");
}

async function privatePem(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await webcrypto.subtle.exportKey("pkcs8", key)).toString("base64");
  return `-----BEGIN PRIVATE KEY-----\n${der.replace(/.{64}(?=.)/g, "$&\n")}\n-----END PRIVATE KEY-----\n`;
}

/** PEM text that ends its last line. */
export function pem(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
