import { readCertificate, splitCertificates, type KeyPair } from "@causeway/foundation";
import { secretText, type Secret } from "@causeway/kubernetes";
import type { RootPurpose } from "./steps.ts";

/** Roots that are rotated: the cluster's authority, the key of account tokens, and the front proxy's authority. */
export const rotatedPurposes = ["ca", "sa", "proxy"] as const satisfies readonly RootPurpose[];
/** The part of the Secret's name after the cluster's. */
export type RotatedPurpose = (typeof rotatedPurposes)[number];

/**
 * How far the rotation of one root is. "single": there is one. "trust": the next one is trusted too. "sign": the new
 * one signs, the old one is trusted still. "retire": the new one only, and not everything knows that yet.
 */
export const rootStages = ["single", "trust", "sign", "retire"] as const;
/** In the order in which a rotation goes through them. */
export type RootStage = (typeof rootStages)[number];

/** Annotations of a root's Secret: where its rotation is, and its times (RFC 3339). */
export const stageAnnotation = "controlplane.causeway.dev/rotation-stage";
/** The rotateAfter of the running rotation, or of the last one. */
export const rotationAnnotation = "controlplane.causeway.dev/rotation";
/** When the last rotation ended and the old root was given up. */
export const retiredAtAnnotation = "controlplane.causeway.dev/retired-at";

/** Keys of the Secret for the root next to the one that signs. */
export const OTHER = { certificate: "other.crt", key: "other.key" } as const;

/** What the Secret of a root holds. */
export interface Root {
  readonly secret: Secret;
  readonly stage: RootStage;
  /** The one that signs. */
  readonly pair: KeyPair;
  /** The next one in stage "trust", the old one in stage "sign". */
  readonly other?: KeyPair;
  readonly rotation?: string;
  readonly retiredAt?: string;
}

/** A control plane of an early version has no authority of a front proxy. */
export type RotatedRoots = Readonly<Record<Exclude<RotatedPurpose, "proxy">, Root> & { proxy?: Root | undefined }>;

/** What a rotation is planned from; undefined where a root is missing. */
export interface AuthorityFacts {
  readonly roots: RotatedRoots;
  /** Of the authority that signs, in ms since epoch. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Machines of the cluster, with the time (ms since epoch) of their creation. Not read outside of stage "sign". */
  readonly machines: readonly { readonly name: string; readonly createdAt: number }[];
}

/** The root in a Secret of the contract: tls.crt begins with the one that signs, whose key is tls.key. */
export function rootOf(secret: Secret | undefined): Root | undefined {
  const certificate = secretText(secret, "tls.crt");
  const key = secretText(secret, "tls.key");
  if (secret === undefined || certificate === undefined || key === undefined) return undefined;
  const annotations = secret.metadata.annotations ?? {};
  const stage = rootStages.find((each) => each === annotations[stageAnnotation]) ?? "single";
  const other = otherOf(secret);
  const [rotation, retiredAt] = [rotationAnnotation, retiredAtAnnotation].map((name) => annotations[name]);
  return {
    secret,
    stage,
    pair: { certificate: other === undefined ? certificate : without(certificate, other.certificate), key },
    ...(other === undefined ? {} : { other }),
    ...(rotation === undefined ? {} : { rotation }),
    ...(retiredAt === undefined ? {} : { retiredAt }),
  };
}

function otherOf(secret: Secret): KeyPair | undefined {
  const [certificate, key] = [secretText(secret, OTHER.certificate), secretText(secret, OTHER.key)];
  return certificate === undefined || key === undefined ? undefined : { certificate, key };
}

/** Public keys of service-account tokens are not certificates: tls.crt has the one that signs only. */
function without(bundle: string, other: string): string {
  const ours = splitCertificates(bundle).filter((each) => !splitCertificates(other).includes(each));
  return ours.length === 0 ? bundle : ours.join("");
}

/** PEM: the authority that signs, then the one that is trusted next to it. */
export function bundleOf({ pair, other }: Pick<Root, "pair" | "other">): string {
  return other === undefined ? pair.certificate : `${lineEnded(pair.certificate)}${other.certificate}`;
}

function lineEnded(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}

/** The serial numbers of a bundle, as the annotation of a kubeconfig has them. */
export function serialsOf(bundle: string): string {
  const certificates = splitCertificates(bundle);
  return (certificates.length === 0 ? [bundle] : certificates).map((each) => readCertificate(each).serial).join(",");
}
