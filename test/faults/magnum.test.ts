/**
 * Schedules of creates, resizes, upgrades, node groups, rotations of the authority and deletes through the Magnum API,
 * with machines that fail and recover, writes that are refused or whose answers are lost, crashes, and two controllers
 * at the same time: the status that clients see is always true.
 */
import { Cluster } from "@causeway/api";
import fc from "fast-check";
import { expect, test } from "vitest";
import { regressions } from "./magnum/regressions.ts";
import { play } from "./magnum/run.ts";
import { schedules, type Schedule } from "./magnum/schedule.ts";
import { MagnumFaultWorld } from "./magnum/world.ts";

const SCHEDULES = Number(process.env["CAUSEWAY_FAULT_MAGNUM"] ?? 2000);
const SEED = Number(process.env["CAUSEWAY_FAULT_SEED"] ?? 1);
/** Milliseconds. */
const TIMEOUT = 120_000 + SCHEDULES * 60_000;
const ENOUGH = 5;
/** Only the schedule of this number is played, to repeat what ended badly. */
const ONLY = process.env["CAUSEWAY_FAULT_ONLY"];
/** The first that is played, so that all of a seed can be played in pieces. */
const FROM = Number(process.env["CAUSEWAY_FAULT_FROM"] ?? 0);

test(
  `${SCHEDULES} schedules of faults: complete means ready nodes of the version, and gone means that nothing is left`,
  { timeout: TIMEOUT },
  async () => {
    /** By whether clusters have users of their own. */
    const worlds = new Map<boolean, MagnumFaultWorld>();
    const bad: string[] = [];
    const begun = process.cpuUsage();
    let statuses = 0;
    try {
      for (const [i, schedule] of fc.sample(schedules, { numRuns: SCHEDULES, seed: SEED }).entries()) {
        if (i < FROM || (ONLY !== undefined && i !== Number(ONLY))) continue;
        if (i > FROM && i % 50 === 0) console.log(`${i} schedules of seed ${SEED} played, ${bad.length} ended badly`);
        const { hasTrustees } = schedule;
        const world = worlds.get(hasTrustees) ?? (await MagnumFaultWorld.start(hasTrustees));
        worlds.set(hasTrustees, world);
        const { wrong, checked } = await play(world, schedule, i);
        statuses += checked;
        if (wrong === undefined) continue;
        bad.push(`${i}: ${wrong}: ${JSON.stringify(schedule)}`);
        console.log(bad.at(-1));
        if (bad.length >= ENOUGH) break;
        worlds.delete(hasTrustees);
        await world.close();
      }
    } finally {
      for (const world of worlds.values()) await world.close();
    }
    expect(bad).toEqual([]);
    const { user, system } = process.cpuUsage(begun);
    const seconds = Math.round((user + system) / 1e6);
    const played = FROM > 0 ? `schedules ${FROM} to ${SCHEDULES - 1}` : `${SCHEDULES} schedules`;
    console.log(`${played} of seed ${SEED}, ${statuses} statuses checked, in ${seconds} s of CPU`);
  },
);

const plain: Schedule = {
  hasTrustees: false,
  isUnled: false,
  nodes: 0,
  deeds: [],
  misfortunes: [],
  deletion: { isRacing: false, misfortunes: [], deeds: [] },
};

test.each(Object.keys(regressions))(
  "schedule %s of seed 11, which ended badly once",
  { timeout: 10 * 60_000 },
  async (name) => {
    const world = await MagnumFaultWorld.start();
    try {
      const { wrong } = await play(world, regressions[name] as Schedule, Number(name));
      expect(wrong).toBeUndefined();
    } finally {
      await world.close();
    }
  },
);

test(
  "a cluster whose create suffers at any write is shown with its credentials, or never shown",
  { timeout: 10 * 60_000 },
  async () => {
    const world = await MagnumFaultWorld.start();
    const bad: string[] = [];
    try {
      for (const what of ["refused", "lost"] as const)
        for (let write = 1; write <= 8; write += 1) {
          const schedule: Schedule = { ...plain, nodes: 1, misfortunes: [{ write, what }] };
          const { wrong } = await play(world, schedule, 10_000 + bad.length + write * 2 + (what === "lost" ? 1 : 0));
          if (wrong !== undefined) bad.push(`write ${write} ${what}: ${wrong}`);
        }
    } finally {
      await world.close();
    }
    expect(bad).toEqual([]);
  },
);

test.each([
  ["of members", false],
  ["of users of clusters", true],
])(
  "a deletion that suffers at any write, with a leader and with none at first, leaves no credentials %s",
  { timeout: 20 * 60_000 },
  async (_, hasTrustees) => {
    const world = await MagnumFaultWorld.start(hasTrustees);
    const bad: string[] = [];
    let number = 20_000;
    try {
      for (const isUnled of [true, false])
        for (const what of ["refused", "lost"] as const)
          for (let write = 1; write <= 4; write += 1) {
            const deletion = { ...plain.deletion, after: 0, isRacing: true, misfortunes: [{ write, what }] };
            const { wrong } = await play(world, { ...plain, hasTrustees, isUnled, deletion }, (number += 1));
            if (wrong !== undefined) bad.push(`${isUnled ? "unled" : "led"}, write ${write} ${what}: ${wrong}`);
          }
    } finally {
      await world.close();
    }
    expect(bad).toEqual([]);
  },
);

/** As of schedule 1718 of seed 2026: a pool's controller made a Machine after its Cluster was gone for clients. */
test("a cluster that is deleted before its Cluster's controller has seen it is shown until that one releases it", async () => {
  const world = await MagnumFaultWorld.start();
  try {
    const template = { name: "early", coe: "kubernetes", image_id: "cirros", flavor_id: "m1.small" };
    const made = await world.call("POST", "/clustertemplates", { ...template, external_network_id: "public" });
    const body = { name: "early", cluster_template_id: made.body["uuid"] };
    const uuid = String((await world.call("POST", "/clusters", body)).body["uuid"]);
    const clusters = async () => (await world.client.list(Cluster)).items;
    await expect.poll(clusters, { timeout: 30_000 }).toHaveLength(1);
    expect((await world.call("DELETE", `/clusters/${uuid}`)).status).toBe(204);
    const deleted = async () => (await clusters())[0]?.metadata.deletionTimestamp;
    await expect.poll(deleted, { timeout: 30_000 }).toBeDefined();
    const { status, body: shown } = await world.call("GET", `/clusters/${uuid}`);
    expect([status, shown["status"]]).toEqual([200, "DELETE_IN_PROGRESS"]);
    const [{ metadata } = { metadata: { name: "", namespace: "" } }] = await clusters();
    const release = { type: "merge", body: { metadata: { finalizers: [] } } } as const;
    await world.client.patch(Cluster, { namespace: metadata.namespace ?? "", name: metadata.name }, release);
    const gone = async () => (await world.call("GET", `/clusters/${uuid}`)).status;
    await expect.poll(gone, { timeout: 30_000 }).toBe(404);
  } finally {
    await world.close();
  }
});
