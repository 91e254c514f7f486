import { CausewayError, splitCertificates } from "@causeway/foundation";
import { certificatesProblem, placeProblem } from "./named-servers.ts";
import type { ControlPlaneProblem, TokenIssuers } from "./runtime.ts";
import { minorNumber } from "./versions.ts";

/** Of apiserver.config.k8s.io: which one an API server reads. */
export type IssuersVersion = "v1" | "v1beta1";

/** All that API servers read. */
export const issuersVersions: readonly IssuersVersion[] = ["v1", "v1beta1"];

/** kube-apiserver of older minor versions reads no AuthenticationConfiguration. */
const FIRST_MINOR_WITH_ISSUERS = 30;

/** By issuer of a spec: control planes are judged again and again. */
const verdicts = new WeakMap<TokenIssuers[number]["issuer"], { readonly problem: string | undefined }>();

/** Names of Kubernetes itself are no issuer's to give, whatever its claims say. */
const userValidationRules = [
  {
    expression: "!user.username.startsWith('system:')",
    message: "names of users that begin with system: are Kubernetes' own",
  },
  {
    // kubeadm:cluster-admins may do anything from the beginning.
    expression: "user.groups.all(group, !group.startsWith('system:') && !group.startsWith('kubeadm:'))",
    message: "names of groups that begin with system: or kubeadm: are Kubernetes' own",
  },
];

/**
 * The AuthenticationConfiguration with these issuers; an empty list is one, too. Of an authority it has the
 * certificates, and not what is between them.
 */
export function issuersConfiguration(jwt: TokenIssuers, version: IssuersVersion) {
  return {
    apiVersion: `apiserver.config.k8s.io/${version}`,
    kind: "AuthenticationConfiguration",
    jwt: jwt.map(({ issuer: { url, audiences, certificateAuthority }, claimMappings: { username, groups } }) => ({
      issuer: {
        url,
        audiences: [...audiences],
        ...(audiences.length > 1 ? { audienceMatchPolicy: "MatchAny" } : {}),
        ...(certificateAuthority === undefined
          ? {}
          : { certificateAuthority: splitCertificates(certificateAuthority).join("") }),
      },
      claimMappings: { username: { ...username }, ...(groups === undefined ? {} : { groups: { ...groups } }) },
      userValidationRules,
    })),
  };
}

/** The same as the text of a file. */
export function issuersText(jwt: TokenIssuers, version: IssuersVersion): string {
  return `${JSON.stringify(issuersConfiguration(jwt, version), undefined, 2)}\n`;
}

/** Why kube-apiserver of this Kubernetes version has no issuers; undefined: it has, or none are requested. */
export function versionProblem(jwt: TokenIssuers | undefined, kubernetes: string): string | undefined {
  if (jwt === undefined || minorNumber(kubernetes) >= FIRST_MINOR_WITH_ISSUERS) return undefined;
  return `kube-apiserver ${kubernetes} has no spec.authentication.jwt: it needs v1.${FIRST_MINOR_WITH_ISSUERS}`;
}

/** The version that kube-apiserver of this Kubernetes version reads: v1 since v1.34. */
export function issuersVersion(kubernetes: string): IssuersVersion {
  return minorNumber(kubernetes) >= 34 ? "v1" : "v1beta1";
}

/** The name of the file with it. */
export function issuersFile(version: IssuersVersion): string {
  return `authentication-${version}.json`;
}

/**
 * Why these issuers are not accepted. API servers connect to them, so that the operator permits the networks in which
 * they may be. An authority that cannot be read would keep kube-apiserver from starting.
 */
export function issuersProblem(
  jwt: TokenIssuers | undefined,
  networks: readonly string[] = [],
): ControlPlaneProblem | undefined {
  if (jwt === undefined || jwt.length === 0) return undefined;
  if (networks.length === 0)
    return {
      code: "ISSUERS_NOT_PERMITTED",
      message:
        "the operator permits no networks of OIDC issuers, which spec.authentication.jwt needs: start with --oidc-networks",
      actor: "operator",
    };
  for (const [index, { issuer }] of jwt.entries()) {
    const path = `spec.authentication.jwt[${index}].issuer`;
    const authority = authorityProblem(issuer);
    if (authority !== undefined)
      return { code: "ISSUERS_INVALID", message: `${path}.certificateAuthority: ${authority}`, actor: "user" };
    const place = placeProblem(issuer.url, { networks, option: "--oidc-networks" });
    if (place !== undefined) return { code: "ISSUERS_NOT_PERMITTED", message: `${path}.url: ${place}`, actor: "user" };
  }
  return undefined;
}

/**
 * Throws what `issuersProblem` says.
 *
 * @throws CausewayError ISSUERS_NOT_PERMITTED, ISSUERS_INVALID
 */
export function refuseIssuers(jwt: TokenIssuers | undefined, networks: readonly string[] | undefined): void {
  const problem = issuersProblem(jwt, networks);
  if (problem !== undefined)
    throw new CausewayError(problem.code, problem.message, {
      hint: "Correct spec.authentication.jwt, or have the operator permit the issuer's network with --oidc-networks.",
    });
}

function authorityProblem(issuer: TokenIssuers[number]["issuer"]): string | undefined {
  const { certificateAuthority: pem } = issuer;
  if (pem === undefined) return undefined;
  const known = verdicts.get(issuer);
  if (known) return known.problem;
  const problem = certificatesProblem(pem);
  verdicts.set(issuer, { problem });
  return problem;
}
