import { CausewayError, messageOf } from "@causeway/foundation";
import { cloudConfOf, type CloudConfig } from "@causeway/openstack";

/** Keys of a Secret, and the keys of cloud.conf's [Global] that mean the same. */
const KEYS: Readonly<Record<string, string>> = {
  "os-authURL": "auth-url",
  "os-userID": "user-id",
  "os-userName": "username",
  "os-password": "password",
  "os-projectID": "tenant-id",
  "os-projectName": "tenant-name",
  "os-trustID": "trust-id",
  "os-trusteeID": "trustee-id",
  "os-trusteePassword": "trustee-password",
  "os-domainID": "domain-id",
  "os-domainName": "domain-name",
  "os-projectDomainID": "tenant-domain-id",
  "os-projectDomainName": "tenant-domain-name",
  "os-userDomainID": "user-domain-id",
  "os-userDomainName": "user-domain-name",
  "os-region": "region",
  "os-endpointType": "os-endpoint-type",
  "os-certAuthorityPath": "ca-file",
  "os-TLSInsecure": "tls-insecure",
  "os-token": "token",
  "os-clientCertPath": "cert-file",
  "os-clientKeyPath": "key-file",
  "os-useClouds": "use-clouds",
  "os-cloudsFile": "clouds-file",
  "os-cloud": "cloud",
  "os-applicationCredentialID": "application-credential-id",
  "os-applicationCredentialName": "application-credential-name",
  "os-applicationCredentialSecret": "application-credential-secret",
};
const CA = "os-certAuthority";
/** Characters of one value: a bundle of authorities is the largest. */
const LONGEST = 1024 * 1024;

/**
 * The cloud and credentials that a call's Secret has; other keys are ignored. Throws CSI_INVALID_ARGUMENT, without a
 * value of the Secret.
 */
export function cloudOfSecrets(secrets: Readonly<Record<string, string>>): CloudConfig {
  if (Object.keys(secrets).length === 0) throw invalid("the request has none");
  const settings: Record<string, string> = {};
  for (const [name, key] of Object.entries(KEYS)) {
    const value = secrets[name];
    if (value === undefined) continue;
    if (value === "") throw invalid(`${name} is empty`);
    if (value.length > LONGEST) throw invalid(`${name} is longer than 1 MiB`);
    settings[key] = value;
  }
  const ca = secrets[CA];
  if (ca !== undefined && ca.length > LONGEST) throw invalid(`${CA} is longer than 1 MiB`);
  let config: CloudConfig;
  try {
    config = { ...cloudConfOf(settings), name: secrets["os-cloud"] ?? "of the Secret" };
  } catch (error) {
    throw invalid(messageOf(error).replace(/^Cloud cloud\.conf: |\.$/g, ""), error);
  }
  return ca === undefined || ca === "" ? config : { ...config, tls: { ...config.tls, ca } };
}

function invalid(why: string, cause?: unknown): CausewayError {
  return new CausewayError("CSI_INVALID_ARGUMENT", `The OpenStack credentials of the Secret are not valid: ${why}.`, {
    ...(cause !== undefined && { cause }),
    hint: "The StorageClass names the Secret; its keys are os-authURL, os-userName, os-password and so on.",
  });
}
