/** What is seen of a cloud while a part of it does not respond: answers of its APIs, and changes of readiness. */
import { adminToken, NAME, request, serviceAddress } from "./cloud.ts";
import type { Rig } from "./rig.ts";

/** Longer than any request may take. */
const GIVEN_UP_SECONDS = 240;

/** How curl ends where a connection is refused. */
const NO_CONNECTION = 7;

interface Pods {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
    readonly spec: {
      readonly initContainers?: readonly { readonly name: string }[];
      readonly containers: readonly { readonly env?: readonly { readonly name: string }[] }[];
    };
    readonly status: {
      readonly conditions?: readonly {
        readonly type: string;
        readonly status: string;
        readonly lastTransitionTime?: string;
      }[];
    };
  }[];
}

/** A question to an API that it answers from its database. */
export interface Question {
  readonly api: string;
  readonly url: string;
  readonly token: string;
}

export interface Answer {
  readonly api: string;
  /** 0: none came, or the connection broke. */
  readonly status: number;
  /** No pod of the API was ready: the connection was refused at once. */
  readonly isRefused?: boolean;
  readonly problem?: string;
  readonly seconds: number;
  readonly sentAt: number;
}

/** One question to each API of the cloud. */
export async function questions(rig: Rig): Promise<Question[]> {
  const token = await adminToken(rig);
  const at = (api: string, path: string) => ({ api, url: `http://${serviceAddress(rig, api)}:${path}`, token });
  return [
    at("keystone-api", "5000/v3/projects"),
    at("glance-api", "9292/v2/images"),
    at("placement-api", "8778/resource_providers"),
    at("neutron-server", "9696/v2.0/networks"),
    at("nova-api", "8774/v2.1/servers"),
  ];
}

export async function ask(rig: Rig, { api, url, token }: Question): Promise<Answer> {
  const sentAt = Date.now();
  const found = await request(rig, "GET", url, { token, seconds: GIVEN_UP_SECONDS }).then(
    (answer) => ({ status: answer.status || 0 }),
    (error: Error & { code?: unknown }) => ({
      status: 0,
      isRefused: error.code === NO_CONNECTION,
      problem: `curl ended with ${String(error.code)}`,
    }),
  );
  return { api, ...found, seconds: (Date.now() - sentAt) / 1000, sentAt };
}

/** Asks each API again and again, one request at a time, until it is stopped; what came of each. */
export function keepAsking(rig: Rig, all: readonly Question[]): { stop(): Promise<Answer[]> } {
  const answers: Answer[] = [];
  let isOver = false;
  const asked = all.map(async (question) => {
    while (!isOver) {
      answers.push(await ask(rig, question));
      await new Promise((resolve) => setTimeout(resolve, 5_000));
    }
  });
  return {
    async stop() {
      isOver = true;
      await Promise.all(asked);
      return answers;
    },
  };
}

/** Counts changes of the condition Ready of each pod of the deployment, by the times that kubelets write. */
export class Readiness {
  readonly #rig: Rig;
  readonly #seen = new Map<string, Set<string>>();
  readonly #timer: NodeJS.Timeout;
  /** Components whose readiness asks the broker: those with a prober. */
  readonly askBroker = new Set<string>();
  /** Those whose readiness asks their database: APIs with a program in front of them. */
  readonly askDatabase = new Set<string>();
  #ready = new Set<string>();

  constructor(rig: Rig) {
    this.#rig = rig;
    this.#check();
    this.#timer = setInterval(() => this.#check(), 5_000);
  }

  /** Components of which a pod is ready now. */
  now(): ReadonlySet<string> {
    this.#check();
    return this.#ready;
  }

  #check(): void {
    this.#ready = new Set();
    const { items } = this.#rig.get<Pods>("pods", "-l", `openstack.causeway.dev/deployment=${NAME}`);
    for (const { metadata, spec, status } of items) {
      const component = metadata.labels["openstack.causeway.dev/component"] ?? "";
      if (spec.initContainers?.some(({ name }) => name === "prober")) this.askBroker.add(component);
      if (spec.containers.some(({ env }) => env?.some(({ name }) => name === "FRONT_DATABASE")))
        this.askDatabase.add(component);
      const condition = status.conditions?.find(({ type }) => type === "Ready");
      if (condition?.status === "True") this.#ready.add(component);
      const at = condition?.lastTransitionTime;
      const key = `${component} ${metadata.name}`;
      if (at !== undefined) this.#seen.set(key, (this.#seen.get(key) ?? new Set()).add(at));
    }
  }

  /** How often pods of each component became ready or not ready since the first read; the most of one pod. */
  stop(): Record<string, number> {
    clearInterval(this.#timer);
    this.#check();
    const changes: Record<string, number> = {};
    for (const [key, times] of this.#seen) {
      const component = key.split(" ")[0] ?? "";
      const most = Math.max(changes[component] ?? 0, times.size - 1);
      if (most > 0) changes[component] = most;
    }
    return changes;
  }
}
