import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { CausewayError, systemClock, type Clock } from "@causeway/foundation";
import type { CloudConfig } from "../config/config.ts";
import { connectCloud, type ConnectOptions } from "../connect.ts";
import type { Cloud } from "../types/cloud.ts";
import type * as N from "../types/network.ts";

/** The cloud that the cases run on, and what they may use of it. */
export interface ContractSettings {
  readonly config: CloudConfig;
  /** An administrator of the same cloud, for cases that need one. */
  readonly admin?: CloudConfig;
  readonly clock?: Clock;
  /** What all names begin with. Default "oskit". */
  readonly prefix?: string;
  /** Names in the cloud. Defaults: public, m1.tiny, cirros. */
  readonly externalNetwork?: string;
  readonly flavor?: string;
  readonly image?: string;
  /** False: the cloud adopts stacks only, and has no engine for templates. */
  readonly templates?: boolean;
}

/** What a case works with. `cleanup` runs when the case is over, the last first, whatever happened. */
export interface ContractContext {
  readonly cloud: Cloud;
  /** As an administrator; only for cases that say they need one. */
  readonly admin: Cloud;
  readonly config: CloudConfig;
  readonly clock: Clock;
  /** Another connection with parts of the config or options changed; closed by itself. */
  readonly connect: (config: Partial<CloudConfig>, options?: ConnectOptions) => Cloud;
  /** A unique name. */
  readonly name: (what: string) => string;
  readonly cleanup: (work: () => Promise<unknown>) => void;
  readonly externalNetwork: string;
  readonly flavor: string;
  readonly image: string;
}

/** One behaviour of OpenStack that we rely on, as a program that fails where a cloud differs. */
export interface ContractCase {
  /** As a sentence. */
  readonly name: string;
  readonly needs?: Needs;
  readonly run: (context: ContractContext) => Promise<void>;
}

/** What a cloud has to have for a case; one that has it not is not judged by it. */
export interface Needs {
  readonly services?: readonly string[];
  /** Aliases of Neutron's extensions. */
  readonly extensions?: readonly string[];
  readonly admin?: boolean;
  /** Stacks are made from templates. */
  readonly templates?: boolean;
}

/**
 * Runs one case on a cloud and removes what it made. Throws what the case throws. Returns why the case cannot run on
 * the cloud, if it does not have what the case needs.
 */
export async function runContractCase(
  contractCase: ContractCase,
  settings: ContractSettings,
): Promise<string | undefined> {
  const { config, clock = systemClock, prefix = "oskit" } = settings;
  const work: (() => Promise<unknown>)[] = [];
  const run = randomBytes(3).toString("hex");
  const open: Cloud[] = [];
  const connect = (changes: Partial<CloudConfig>, options: ConnectOptions = {}): Cloud => {
    const cloud = connectCloud({ ...config, ...changes }, { clock, ...options });
    open.push(cloud);
    return cloud;
  };
  const cloud = connect({});
  const context: ContractContext = {
    cloud,
    admin: connect(settings.admin ?? {}),
    config,
    clock,
    connect,
    name: (what) => `${prefix}-${run}-${what}`,
    cleanup: (task) => work.unshift(task),
    externalNetwork: settings.externalNetwork ?? "public",
    flavor: settings.flavor ?? "m1.tiny",
    image: settings.image ?? "cirros",
  };
  try {
    const missing = await whatIsMissing(cloud, settings, contractCase.needs);
    if (missing === undefined) await contractCase.run(context);
    return missing;
  } finally {
    for (const task of work) await task();
    for (const cloud of open) await cloud.close();
  }
}

async function whatIsMissing(cloud: Cloud, settings: ContractSettings, needs: Needs = {}): Promise<string | undefined> {
  if (needs.admin === true && settings.admin === undefined) return "no administrator's credentials are given";
  if (needs.templates === true && settings.templates === false) return "the cloud has no engine for templates";
  for (const service of needs.services ?? []) {
    if (!(await cloud.has(service))) return `the cloud has no ${service} service`;
  }
  for (const alias of needs.extensions ?? []) {
    if (!(await cloud.network.extensions()).has(alias)) return `the cloud's network service has no ${alias}`;
  }
  return undefined;
}

/** The CausewayError that the promise fails with, whose code is one of these. */
export async function failsWith(promise: Promise<unknown>, ...codes: readonly string[]): Promise<CausewayError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof CausewayError && codes.includes(error.code)) return error;
  throw new Error(`${codes.join(" or ")} was expected, not ${String(error)}`, { cause: error });
}

/** Polls until the response satisfies the predicate, five minutes at most. */
export async function eventually<T>(
  context: ContractContext,
  ask: () => Promise<T>,
  predicate: (answer: T) => boolean,
): Promise<T> {
  for (let i = 0; ; i++) {
    const answer = await ask();
    if (predicate(answer)) return answer;
    assert.ok(i < 600, `it did not get there: ${JSON.stringify(answer)}`);
    await context.clock.sleep(500);
  }
}

/** A network with one subnet, removed at the end. */
export async function makeSubnet(context: ContractContext, cidr = "10.231.0.0/24"): Promise<N.Subnet> {
  const { network } = context.cloud;
  const made = await network.networks.create({ name: context.name("net"), description: "contract" });
  context.cleanup(() => network.networks.delete(made.id));
  return network.subnets.create({ name: context.name("subnet"), network_id: made.id, ip_version: 4, cidr });
}
