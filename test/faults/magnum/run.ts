import { MagnumCluster } from "@causeway/api";
import { isTrue, Secret, secretText } from "@causeway/kubernetes";
import { addonsMissing } from "./addons.ts";
import { unrotated } from "./authorities.ts";
import { Others } from "./others.ts";
import { DeletionRun } from "./deletion-run.ts";
import type { Deed, Schedule } from "./schedule.ts";
import type { MagnumFaultWorld } from "./world.ts";

/** Milliseconds for everything to come right, once nothing disturbs it. */
const TIMEOUT = 60_000;
const VERSIONS = ["v1.34.0", "v1.34.1"] as const;
const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

export interface Played {
  /** What is wrong, in words. */
  readonly wrong: string | undefined;
  /** Statuses that were held against what there is. */
  readonly checked: number;
}

/** Plays one schedule to its end. */
export async function play(world: MagnumFaultWorld, schedule: Schedule, number: number): Promise<Played> {
  const run = new Run(world, schedule, `run-${number}`);
  try {
    return { wrong: await run.play(), checked: run.checked };
  } finally {
    world.disturb();
    await world.lead(true);
    for (const extra of world.processes.splice(1)) await extra.end();
  }
}

class Run {
  readonly #world: MagnumFaultWorld;
  readonly #schedule: Schedule;
  readonly #name: string;
  readonly #templates: string[] = [];
  #uuid = "";
  #namespace = "";
  #others: Others | undefined;
  /** Nodes by name of the group, and the version of the control plane: what was accepted last. */
  #wanted = new Map<string, { nodes: number; version: string }>();
  #version: string = VERSIONS[0];
  checked = 0;

  constructor(world: MagnumFaultWorld, schedule: Schedule, name: string) {
    this.#world = world;
    this.#schedule = schedule;
    this.#name = name;
  }

  async play(): Promise<string | undefined> {
    const { isUnled, misfortunes, deeds, deletion } = this.#schedule;
    for (const kube_tag of VERSIONS) this.#templates.push(await this.#template(kube_tag));
    await this.#world.lead(!isUnled);
    this.#world.disturb(new Map(misfortunes.map(({ write, what }) => [write, what])));
    await this.#create();
    for (const [i, { deed, pause: milliseconds }] of deeds.entries()) {
      if (i === deletion.after) return this.#delete();
      await this.#do(deed);
      await pause(milliseconds);
      const wrong = (await this.#untruth()) ?? (deed.do === "renew" ? await this.#invalid() : undefined);
      if (wrong !== undefined) return `after ${JSON.stringify(deed)}: ${wrong}`;
    }
    if (deletion.after === deeds.length) return this.#delete();
    this.#world.disturb();
    await this.#world.lead(true);
    await this.#others?.fail(false);
    const stuck = await this.#settle((status) => status.endsWith("_COMPLETE"));
    if (stuck !== undefined) return stuck;
    return (await this.#rotate()) ?? this.#delete();
  }

  async #template(kube_tag: string): Promise<string> {
    const template = {
      name: `${this.#name}-${kube_tag}`,
      coe: "kubernetes",
      image_id: "cirros",
      flavor_id: "m1.small",
      external_network_id: "public",
      labels: { kube_tag },
    };
    const { body } = await this.#world.call("POST", "/clustertemplates", template);
    return String(body["uuid"]);
  }

  /** As a client does whose request failed: it searches for what it made, and sends it again. */
  async #create(): Promise<void> {
    const body = { name: this.#name, cluster_template_id: this.#templates[0], node_count: this.#schedule.nodes };
    for (;;) {
      const answer = await this.#world.call("POST", "/clusters", body);
      if (answer.status !== 202 && answer.status < 500)
        throw new Error(`create: ${answer.status} ${JSON.stringify(answer.body)}`);
      const { status, body: shown } = await this.#world.call("GET", `/clusters/${this.#name}`);
      if (status === 404 && answer.status === 202) throw new Error("a cluster that was accepted is not shown");
      if (status !== 200) continue;
      this.#uuid = String(shown["uuid"]);
      const { items } = await this.#world.client.list(MagnumCluster);
      const made = items.find(({ spec }) => spec.uuid === this.#uuid);
      if (made === undefined) throw new Error("a cluster that is shown has no row");
      const { namespace = "", name } = made.metadata;
      this.#namespace = namespace;
      // What is shown can become complete: its credentials are there, whatever became of the answer to its create.
      const credentials = await this.#world.client.find(Secret, { namespace, name: `${name}-cloud-config` });
      if (credentials === undefined) throw new Error("a cluster that is shown has no credentials");
      this.#others = new Others(this.#world.client, made);
      this.#wanted.set("default-worker", { nodes: this.#schedule.nodes, version: VERSIONS[0] });
      return;
    }
  }

  /** Asks until the API itself has not failed; true: accepted. */
  async #ask(method: string, path: string, body?: unknown): Promise<boolean> {
    for (;;) {
      const { status } = await this.#world.call(method, `/clusters/${this.#uuid}${path}`, body);
      if (status < 500) return status < 300;
    }
  }

  async #do(deed: Deed): Promise<void> {
    switch (deed.do) {
      case "resize":
        return this.#resize(deed.nodes);
      case "upgrade":
        return this.#upgrade();
      case "group":
        return this.#group();
      case "ungroup":
        return this.#ungroup();
      case "crash":
        return this.#world.crash();
      case "renew":
        return this.#renew();
      case "second":
        return this.#world.processes.length === 1 ? this.#world.launch() : undefined;
      case "fail":
      case "recover":
        return this.#others?.fail(deed.do === "fail");
      case "progress":
        return this.#progress(deed.which);
    }
  }

  /** Whatever becomes of the requests, the cluster has one credential, which is valid. */
  async #renew(expected = [202, 409]): Promise<void> {
    const all = this.#world.processes.map((_, at) =>
      this.#world.call("PATCH", `/credentials/${this.#uuid}`, undefined, at),
    );
    const refused = (await Promise.all(all)).find(({ status }) => !expected.includes(status) && status < 500);
    if (refused !== undefined) throw new Error(`renewal: ${refused.status} ${JSON.stringify(refused.body)}`);
  }

  async #credential(): Promise<{ readonly id: string; readonly secret: string } | undefined> {
    const { items } = await this.#world.client.list(MagnumCluster);
    const { namespace = "", name = "" } = items.find(({ spec }) => spec.uuid === this.#uuid)?.metadata ?? {};
    const secret = await this.#world.client.find(Secret, { namespace, name: `${name}-cloud-config` });
    const text = secretText(secret, "application-credential.json");
    return text === undefined ? undefined : (JSON.parse(text) as { id: string; secret: string });
  }

  async #invalid(): Promise<string | undefined> {
    const held = await this.#credential();
    if (held === undefined) return "the cluster has no credential";
    return (await this.#world.works(held)) ? undefined : "the cluster's credential is not valid";
  }

  async #resize(nodes: number): Promise<void> {
    const group = this.#wanted.get("default-worker");
    if (group && (await this.#ask("POST", "/actions/resize", { node_count: nodes }))) group.nodes = nodes;
  }

  async #upgrade(): Promise<void> {
    if (!(await this.#ask("POST", "/actions/upgrade", { cluster_template: this.#templates[1] }))) return;
    this.#version = VERSIONS[1];
    const group = this.#wanted.get("default-worker");
    if (group) group.version = VERSIONS[1];
  }

  async #group(): Promise<void> {
    const before = this.#wanted.has("extra");
    await this.#ask("POST", "/nodegroups", { name: "extra", node_count: 1 });
    // A conflict after a lost answer: the group is there by the first request. One that is being deleted is not.
    if (!before && !(await this.#isLeaving())) this.#wanted.set("extra", { nodes: 1, version: this.#version });
  }

  async #ungroup(): Promise<void> {
    await this.#ask("DELETE", "/nodegroups/extra");
    if (await this.#isLeaving()) this.#wanted.delete("extra");
  }

  async #isLeaving(): Promise<boolean> {
    const { items } = await this.#world.client.list(MagnumCluster);
    const groups = items.find(({ spec }) => spec.uuid === this.#uuid)?.spec.nodeGroups ?? [];
    return groups.every(({ name, deletedAt }) => name !== "extra" || deletedAt !== undefined);
  }

  /** One controller other than Magnum's does one thing. */
  async #progress(which: number): Promise<void> {
    const moves = (await this.#others?.moves()) ?? [];
    // An object that changed meanwhile is found at the next move.
    await moves[which % moves.length]?.().catch(() => {});
  }

  /** The rotation that the row has. */
  async #rotation(): Promise<string | undefined> {
    const { items } = await this.#world.client.list(MagnumCluster);
    return items.find(({ spec }) => spec.uuid === this.#uuid)?.spec.rotateAuthoritiesAfter;
  }

  /** A rotation from its request to its end, with misfortunes and crashes on the way. */
  async #rotate(): Promise<string | undefined> {
    const { rotation, misfortunes } = this.#schedule;
    if (rotation === undefined) return this.#invalid();
    this.#world.disturb(new Map(misfortunes.map(({ write, what }) => [write, what])));
    for (;;) {
      const { status } = await this.#world.call("PATCH", `/certificates/${this.#uuid}`);
      // A conflict after a lost answer: it was accepted by the first request.
      if (status === 202 || (await this.#rotation()) !== undefined) break;
      if (status < 500) return `the rotation is refused with ${status}`;
    }
    for (let round = 0; round <= 12; round += 1) {
      if (round === (this.#schedule.deletion.after ?? Infinity) - this.#schedule.deeds.length - 1) return undefined;
      const moves = (await this.#others?.moves()) ?? [];
      for (const move of moves) {
        await move().catch(() => {});
        const wrong = this.#others?.wrong ?? (await this.#untruth());
        if (wrong !== undefined) return `rotating: ${wrong}`;
      }
      if (rotation.crashes.includes(round)) await this.#world.crash();
      await pause(150);
    }
    this.#world.disturb();
    const stuck = await this.#settle((status) => status.endsWith("_COMPLETE"));
    return stuck ?? this.#others?.wrong ?? this.#invalid();
  }

  /** What a client is shown that is not so. */
  async #untruth(): Promise<string | undefined> {
    const { status, body } = await this.#world.call("GET", `/clusters/${this.#uuid}`);
    this.checked += 1;
    if (status !== 200) return `GET responds with ${status}`;
    const shown = String(body["status"]);
    if (!shown.endsWith("_COMPLETE")) return undefined;
    const missing = await this.#missing();
    return missing === undefined ? undefined : `${shown}, but ${missing}`;
  }

  /** What there is not of what was accepted. */
  async #missing(): Promise<string | undefined> {
    const { controlPlanes, machines, deployments, addonSets } = (await this.#others?.standing()) ?? {
      controlPlanes: [],
      machines: [],
      deployments: [],
      addonSets: [],
    };
    const rotated = unrotated(await this.#rotation(), controlPlanes[0], machines);
    if (rotated !== undefined) return rotated;
    const served = controlPlanes[0]?.status?.version;
    if (served !== this.#version) return `the control plane is ${served}, not ${this.#version}`;
    const wanted = [...this.#wanted.values()];
    if (deployments.length !== wanted.length) return `${deployments.length} pools, not ${wanted.length}`;
    const nodes = wanted.reduce((sum, group) => sum + group.nodes, 0);
    const ready = machines.filter(({ status }) => isTrue(status?.conditions, "NodeReady"));
    if (machines.length !== nodes || ready.length !== nodes)
      return `${ready.length} of ${machines.length} machines are ready, not ${nodes}`;
    for (const version of new Set(wanted.map((group) => group.version))) {
      const count = wanted.filter((group) => group.version === version).reduce((sum, group) => sum + group.nodes, 0);
      const found = machines.filter(({ spec }) => spec.version === version).length;
      if (found !== count) return `${found} machines have ${version}, not ${count}`;
    }
    return addonsMissing(addonSets, this.#version, { machines, deployments });
  }

  /** The others do all they can until the status is one of these; what is wrong on the way. */
  async #settle(isEnd: (status: string) => boolean): Promise<string | undefined> {
    const deadline = Date.now() + TIMEOUT;
    let shown = "";
    while (Date.now() < deadline) {
      const moves = (await this.#others?.moves()) ?? [];
      for (const move of moves) await move().catch(() => {});
      const wrong = await this.#untruth();
      if (wrong !== undefined) return wrong;
      shown = String((await this.#world.call("GET", `/clusters/${this.#uuid}`)).body["status"]);
      // Nothing is left to do and the status is final: it holds what was accepted.
      if (isEnd(shown) && (await this.#missing()) === undefined) return undefined;
      if (moves.length === 0) await pause(5);
    }
    return `still ${shown} after ${TIMEOUT / 1000} s: ${String(await this.#missing())}`;
  }

  async #delete(): Promise<string | undefined> {
    if (this.#others === undefined) return "there is no cluster";
    const renew = () => this.#renew([202, 404, 409]);
    const run = new DeletionRun(this.#world, this.#others, { uuid: this.#uuid, namespace: this.#namespace, renew });
    const wrong = await run.play(this.#schedule.deletion);
    this.checked += run.checked;
    return wrong ?? this.#cleanup();
  }

  /** The templates go, too. */
  async #cleanup(): Promise<string | undefined> {
    for (const uuid of this.#templates) {
      const { status } = await this.#world.call("DELETE", `/clustertemplates/${uuid}`);
      if (status !== 204) return `the template is not deleted: ${status}`;
    }
    return undefined;
  }
}
