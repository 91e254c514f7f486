import { secretData } from "@causeway/kubernetes";
import type { CredentialUse, Component } from "../model/component.ts";

/**
 * The passwords of a deployment: one Secret, written only by the operator. Accounts of services have a generation, so
 * that a rotation can have two of them valid at once: "nova.database.1" is the password of the account nova_1.
 */
export interface Credentials {
  /** Generation that configuration files use. */
  readonly generation: number;
  /** Generations whose accounts must exist. */
  readonly accounts: readonly number[];
  /** By key, such as "nova.database.0" or "keystone.admin". */
  readonly values: Readonly<Record<string, string>>;
}

/** A service's account without its generation: "nova.database". */
export type AccountKey = `${string}.${CredentialUse}`;

/** The key of a password: "nova.database.1". */
export const accountKey = (key: AccountKey, generation: number): string => `${key}.${generation}`;

/** The name of an account. The first one has the name of the service, as every installation of OpenStack has it. */
export const accountName = (service: string, generation: number): string =>
  generation === 0 ? service : `${service}_${generation}`;

const USES: readonly CredentialUse[] = ["database", "broker", "identity"];
/** Parts of secrets that are made from others, or that have objects of their own. */
const ELSEWHERE = new Set(["tokenKeys", "credentialKeys", "tls", "certificates"]);

/** Keys whose value is a hexadecimal text of exactly 32 characters, as their readers demand. */
export const FIXED = ["heat.encryption", "memcached.key"] as const;
/** Keys that configuration files need although no component mounts them. */
const SHARED = ["metadata.secret", "octavia.heartbeat", "heat.domainAdmin", "barbican.kek", ...FIXED] as const;

/** How often keys that have one value at a time were replaced. */
export const KEY_GENERATION = "keys.generation";
/** How often keys that have one value at a time were replaced; 0 at first. */
export const keyGenerationOf = ({ values }: Credentials): number => Number(values[KEY_GENERATION] ?? "0");

/** The keys of accounts that the components have. */
export function accountKeys(components: readonly Component[]): AccountKey[] {
  const keys = components.flatMap(({ secrets = [] }) => secrets);
  return [...new Set(keys)].filter((key): key is AccountKey =>
    USES.some((use) => key.endsWith(`.${use}`) && key.split(".").length === 2),
  );
}

/** The keys that have one value for good. */
function singleKeys(components: readonly Component[]): string[] {
  const accounts = new Set<string>(accountKeys(components));
  const keys = components.flatMap(({ secrets = [] }) => secrets);
  const own = keys.filter((key) => !accounts.has(key) && !ELSEWHERE.has(key.split(".")[1] ?? ""));
  return [...new Set([...own, ...SHARED])];
}

/** Every key that must have a value while these generations are in use. */
export function wantedKeys(components: readonly Component[], accounts: readonly number[]): string[] {
  const ofAccounts = accountKeys(components).flatMap((key) => accounts.map((each) => accountKey(key, each)));
  return [...singleKeys(components), ...ofAccounts].toSorted();
}

/** Reads the data of the Secret; undefined: there is no Secret yet. */
export function readCredentials(data: Readonly<Record<string, string>> | undefined): Credentials | undefined {
  if (!data) return undefined;
  const values = Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]),
  );
  const { generation = "0", accounts = "0", ...rest } = values;
  return { generation: Number(generation), accounts: accounts.split(" ").map(Number), values: rest };
}

/** The data of the Secret, in base64. */
export function writeCredentials({ generation, accounts, values }: Credentials): Record<string, string> {
  const all = { ...values, generation: String(generation), accounts: accounts.join(" ") };
  return secretData(all);
}
