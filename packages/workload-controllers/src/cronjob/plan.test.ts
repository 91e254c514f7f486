import { describe, expect, test } from "vitest";
import type { CronJob, CronJobStatus, Job } from "@causeway/kubernetes";
import { at, controlledBy, now } from "../testing/objects.ts";
import { plan } from "./plan.ts";
import { parseSchedule } from "./schedule.ts";

const iso = (moment: number | undefined) => (moment === undefined ? undefined : new Date(moment).toISOString());

describe("the schedule of a CronJob", () => {
  const rows: [string, string | undefined, string, string | undefined][] = [
    ["*/15 * * * *", undefined, "2026-01-01T12:14:59Z", "2026-01-01T12:15:00.000Z"],
    ["0 9 * * mon-fri", undefined, "2026-01-02T09:00:00Z", "2026-01-05T09:00:00.000Z"],
    ["30 4 1,15 * 5", undefined, "2026-01-01T05:00:00Z", "2026-01-02T04:30:00.000Z"],
    ["0 0 29 feb *", undefined, "2026-01-01T00:00:00Z", "2028-02-29T00:00:00.000Z"],
    ["0 0 30 2 *", undefined, "2026-01-01T00:00:00Z", undefined],
    ["5/20 * * * ?", undefined, "2026-01-01T00:26:00Z", "2026-01-01T00:45:00.000Z"],
    ["@weekly", undefined, "2026-01-01T00:00:00Z", "2026-01-04T00:00:00.000Z"],
    ["@every 1h30m", undefined, "2026-01-01T00:00:00.500Z", "2026-01-01T01:30:00.000Z"],
    ["0 9 * * *", "Europe/Berlin", "2026-07-01T00:00:00Z", "2026-07-01T07:00:00.000Z"],
    ["0 9 * * *", "Asia/Kolkata", "2026-07-01T04:00:00Z", "2026-07-02T03:30:00.000Z"],
    ["0 0 30 2 *", "America/New_York", "2026-01-01T00:00:00Z", undefined],
    ["0 0 29 2 *", "America/New_York", "2026-03-01T12:00:00Z", "2028-02-29T05:00:00.000Z"],
    ["15 23 31 12 *", "Asia/Tokyo", "2026-12-31T14:15:00Z", "2027-12-31T14:15:00.000Z"],
    ["0 0 9 mar *", "America/New_York", "2026-01-01T00:00:00Z", "2026-03-09T04:00:00.000Z"],
    ["30 23 1 * 1", "UTC", "2026-05-31T23:31:00Z", "2026-06-01T23:30:00.000Z"],
    // Samoa had no 30 December in 2011.
    ["0 12 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z", "2012-12-29T22:00:00.000Z"],
    ["0 0 31 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z", "2011-12-30T10:00:00.000Z"],
    // The hour that does not exist is skipped.
    ["30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-30T00:30:00.000Z"],
    // The hour that comes twice counts twice.
    ["30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00.000Z"],
  ];
  test.each(rows)("%s in %s after %s is %s", (text, zone, after, next) => {
    expect(iso(parseSchedule(text, zone)?.next(Date.parse(after)))).toBe(next);
  });

  test.each([
    "",
    "* * * *",
    "60 * * * *",
    "* * * * 7",
    "*/0 * * * *",
    "5-1 * * * *",
    "x * * * *",
    "@often",
    "@every 5",
  ])("rejects %j", (text) => expect(parseSchedule(text)).toBeUndefined());

  test("rejects an unknown time zone", () => {
    expect(parseSchedule("* * * * *", "Mars/Olympus")).toBeUndefined();
  });
});

const cronJob = (spec: Partial<CronJob["spec"]> = {}, status?: CronJobStatus): CronJob => ({
  apiVersion: "batch/v1",
  kind: "CronJob",
  metadata: { name: "tick", namespace: "default", uid: "cron", creationTimestamp: at(600) },
  spec: { schedule: "*/5 * * * *", jobTemplate: { spec: { template: { spec: { containers: [] } } } }, ...spec },
  ...(status ? { status } : {}),
});
const job = (name: string, end?: "Complete" | "Failed", age = 100): Job => ({
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: {
    name,
    namespace: "default",
    uid: name,
    creationTimestamp: at(age),
    ownerReferences: [controlledBy(cronJob())],
  },
  spec: { template: { spec: { containers: [] } } },
  status: end ? { conditions: [{ type: end, status: "True" }], completionTime: at(age - 10) } : {},
});
const planned = (object: CronJob, jobs: readonly Job[] = [], leaving: readonly Job[] = []) =>
  plan({ cronJob: object, jobs, leaving }, now + 1_000);
const latest = now / 60_000;

describe("a CronJob", () => {
  test("starts the Job of the latest moment, named by it", () => {
    expect(planned(cronJob()).steps).toMatchObject([
      {
        type: "create-job",
        job: {
          metadata: {
            name: `tick-${latest}`,
            annotations: { "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T12:00:00Z" },
            ownerReferences: [controlledBy(cronJob())],
          },
        },
      },
    ]);
  });

  test("starts no second Job for a moment, and waits for the next", () => {
    const { steps, wait } = planned(cronJob({}, { lastScheduleTime: at(0) }));
    expect(steps).toEqual([]);
    expect(wait?.until).toBe(now + 300_100);
    const { metadata, ...rest } = job(`tick-${latest}`);
    const annotations = { "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T12:00:00Z" };
    const found = planned(cronJob(), [{ ...rest, metadata: { ...metadata, annotations } }]);
    expect(found.steps).toEqual([]);
    expect(found.status).toMatchObject({ lastScheduleTime: "2026-01-01T12:00:00Z", active: [{ kind: "Job" }] });
  });

  const listing = (...names: string[]): CronJobStatus => ({
    lastScheduleTime: at(0),
    active: names.map((name) => ({ apiVersion: "batch/v1", kind: "Job", namespace: "default", name, uid: name })),
  });
  const own = (name: string): Job => {
    const { metadata, ...rest } = job(name);
    const annotations = { "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T12:00:00Z" };
    return { ...rest, metadata: { ...metadata, annotations } };
  };
  const changes: [string, CronJobStatus, Job[], Job[], string[], string[]][] = [
    ["runs as listed", listing("a"), [own("a")], [], [], ["a"]],
    ["was started and is not listed yet", listing(), [own("a")], [], [], ["a"]],
    [
      "was made by a user",
      listing(),
      [job("a")],
      [],
      ["Warning UnexpectedJob Saw a job that the controller did not create or forgot: a"],
      ["a"],
    ],
    ["was made by a user and is listed", listing("a"), [job("a")], [], [], ["a"]],
    [
      "is complete",
      listing("a"),
      [job("a", "Complete")],
      [],
      ["Normal SawCompletedJob Saw completed job: a, condition: Complete"],
      [],
    ],
    [
      "failed",
      listing("a"),
      [job("a", "Failed")],
      [],
      ["Normal SawCompletedJob Saw completed job: a, condition: Failed"],
      [],
    ],
    ["was complete before", listing(), [job("a", "Complete")], [], [], []],
    ["is being deleted by a user", listing("a"), [], [own("a")], [], ["a"]],
    ["is gone", listing("a"), [], [], ["Normal MissingJob Active job went missing: a"], []],
    [
      "is gone and another runs",
      listing("a", "b"),
      [own("b")],
      [],
      ["Normal MissingJob Active job went missing: a"],
      ["b"],
    ],
  ];
  test.each(changes)("with a Job that %s reports it", (_title, status, jobs, leaving, events, active) => {
    const result = planned(cronJob({}, status), jobs, leaving);
    expect((result.events ?? []).map(({ type, reason, message }) => `${type} ${reason} ${message}`)).toEqual(events);
    expect((result.status.active ?? []).map(({ name }) => name)).toEqual(active);
  });

  test("does not list Jobs as active that it replaces, and starts none next to one that is being deleted", () => {
    const before = listing("a");
    const due = { ...before, lastScheduleTime: at(600) };
    const replaced = planned(
      cronJob({ concurrencyPolicy: "Replace" }, due),
      [own("a")].map((one) => ({ ...one, metadata: { ...one.metadata, annotations: {} } })),
    );
    expect(replaced.steps.map(({ type }) => type)).toEqual(["delete-job", "create-job"]);
    expect(replaced.status.active).toBeUndefined();
    const forbid = planned(cronJob({ concurrencyPolicy: "Forbid" }, due), [], [job("a")]);
    expect(forbid.steps).toEqual([]);
  });

  const forbidden = { reason: "JobAlreadyActive" };
  const rows: [string, Partial<CronJob["spec"]>, string[], object[]][] = [
    ["Allow", { concurrencyPolicy: "Allow" }, ["create-job"], []],
    ["Forbid", { concurrencyPolicy: "Forbid" }, [], [forbidden]],
    ["Replace", { concurrencyPolicy: "Replace" }, ["delete-job", "create-job"], []],
    ["suspend", { suspend: true }, [], []],
    ["an unknown schedule", { schedule: "never" }, [], [{ reason: "UnparseableSchedule" }]],
  ];
  test.each(rows)("with a running Job follows %s", (_title, spec, steps, events) => {
    const result = planned(cronJob(spec, { active: listing("before").active ?? [] }), [job("before")]);
    expect(result.steps.map(({ type }) => type)).toEqual(steps);
    expect(result.events ?? []).toMatchObject(events);
  });

  test("starts nothing that startingDeadlineSeconds forbid", () => {
    expect(planned(cronJob({ schedule: "58 11 * * *", startingDeadlineSeconds: 60 })).steps).toEqual([]);
  });

  test.each([
    [100, []],
    [101, ["TooManyMissedTimes"]],
  ])("after %i missed moments reports %j", (minutes, reasons) => {
    const { events = [] } = planned(cronJob({ schedule: "* * * * *" }, { lastScheduleTime: at(minutes * 60) }));
    expect(events.map(({ reason }) => reason)).toEqual(reasons);
  });

  test("after more than 100 missed moments starts the latest and says so", () => {
    const { steps, events } = planned(cronJob({ schedule: "* * * * *" }, { lastScheduleTime: at(400 * 24 * 3_600) }));
    expect(steps).toMatchObject([{ type: "create-job", job: { metadata: { name: `tick-${latest}` } } }]);
    expect(events).toMatchObject([{ type: "Warning", reason: "TooManyMissedTimes" }]);
  });

  test("deletes the oldest Jobs beyond its history limits, and reports the last success", () => {
    const jobs = [job("a", "Complete", 300), job("b", "Complete", 200), job("c", "Failed", 150)];
    const { steps, status } = planned(cronJob({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 1 }), jobs);
    expect(steps).toMatchObject([{ type: "delete-job", target: { name: "a" } }]);
    expect(status.lastSuccessfulTime).toBe("2026-01-01T11:56:50Z");
  });

  /** A Job of this CronJob that started for a moment so many seconds ago. */
  const startedFor = (name: string, seconds: number, end?: "Complete" | "Failed"): Job => {
    const made = job(name, end);
    const annotations = { "batch.kubernetes.io/cronjob-scheduled-timestamp": at(seconds) };
    return { ...made, metadata: { ...made.metadata, annotations } };
  };
  const due = { lastScheduleTime: at(600) };
  const next = { for: "the schedule", until: now + 300_100 };

  test("that is being deleted starts and deletes nothing", () => {
    const { metadata, ...rest } = cronJob({ successfulJobsHistoryLimit: 0 });
    const going = { ...rest, metadata: { ...metadata, deletionTimestamp: at(1) } };
    expect(planned(going, [job("a", "Complete")])).toEqual({
      steps: [],
      status: { lastSuccessfulTime: "2026-01-01T11:58:30Z" },
    });
  });

  test("deletes Jobs beyond its history limits before anything else, also while it is suspended", () => {
    const jobs = [job("c", "Failed", 50), job("b", "Complete", 100), job("a", "Complete", 100), job("d", "Failed", 20)];
    const deleted = (spec: Partial<CronJob["spec"]>) =>
      planned(cronJob(spec), jobs).steps.map((step) => (step.type === "delete-job" ? step.target.name : step.type));
    expect(deleted({ successfulJobsHistoryLimit: 0, failedJobsHistoryLimit: 1, suspend: true })).toEqual([
      "a",
      "b",
      "c",
    ]);
    expect(deleted({ successfulJobsHistoryLimit: 1 })).toEqual(["a"]);
    expect(deleted({ failedJobsHistoryLimit: 0 })).toEqual(["c", "d"]);
    expect(deleted({ successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 2, suspend: true })).toEqual([]);
  });

  test("orders Jobs by their start, which may be long after their creation, then by name", () => {
    const started = (name: string, startTime: string | undefined, age: number): Job => {
      const made = job(name, undefined, age);
      return { ...made, status: startTime === undefined ? {} : { startTime } };
    };
    const jobs = [started("b", at(30), 900), started("a", at(30), 800), started("c", undefined, 100)];
    const { status } = planned(cronJob({ suspend: true }), jobs);
    expect(status.active?.map(({ name }) => name)).toEqual(["c", "a", "b"]);
    expect(status.active?.[0]).toEqual({
      apiVersion: "batch/v1",
      kind: "Job",
      name: "c",
      namespace: "default",
      uid: "c",
    });
  });

  test("reports the last start and success that it knows of, of its status and its Jobs", () => {
    const statusOf = (status: CronJobStatus, ...jobs: Job[]) =>
      planned(cronJob({ suspend: true }, status), jobs).status;
    expect(statusOf({}, startedFor("a", 900, "Complete"), startedFor("b", 300, "Failed"))).toEqual({
      lastScheduleTime: "2026-01-01T11:55:00Z",
      lastSuccessfulTime: "2026-01-01T11:58:30Z",
    });
    const later = { lastScheduleTime: at(60), lastSuccessfulTime: at(30) };
    expect(statusOf(later, startedFor("a", 900, "Complete"))).toEqual({
      lastScheduleTime: "2026-01-01T11:59:00Z",
      lastSuccessfulTime: "2026-01-01T11:59:30Z",
    });
    expect(statusOf({})).toEqual({});
    const undone = {
      ...job("a"),
      status: { conditions: [{ type: "Complete", status: "False" as const }], completionTime: at(1) },
    };
    expect(statusOf({}, undone)).not.toHaveProperty("lastSuccessfulTime");
  });

  test.each([
    [{ schedule: "never" }, 'unparseable schedule: "never"'],
    [{ schedule: "0 0 * * *", timeZone: "Mars" }, 'unparseable schedule: "0 0 * * *" in time zone "Mars"'],
  ])("with a schedule that cannot be read, as %j, starts nothing and says so", (spec, message) => {
    const event = { type: "Warning", reason: "UnparseableSchedule", message };
    expect(planned(cronJob(spec, due))).toEqual({
      steps: [],
      status: { lastScheduleTime: "2026-01-01T11:50:00Z" },
      events: [event],
    });
  });

  test("whose schedule has no moment any more waits for none", () => {
    expect(planned(cronJob({ schedule: "0 0 30 2 *" }))).toEqual({ steps: [], status: {} });
  });

  test.each<[string, Partial<CronJob["spec"]>, CronJobStatus | undefined, string | undefined]>([
    ["since it exists", { schedule: "55 * * * *" }, undefined, at(300)],
    ["not before it existed", { schedule: "45 * * * *" }, undefined, undefined],
    ["since its last start", { schedule: "55 * * * *" }, { lastScheduleTime: at(300) }, undefined],
    [
      "not longer ago than startingDeadlineSeconds",
      { schedule: "55 * * * *", startingDeadlineSeconds: 300 },
      undefined,
      undefined,
    ],
    ["within startingDeadlineSeconds", { schedule: "55 * * * *", startingDeadlineSeconds: 302 }, undefined, at(300)],
    [
      "since its last start, within startingDeadlineSeconds",
      { schedule: "55 * * * *", startingDeadlineSeconds: 900 },
      { lastScheduleTime: at(300) },
      undefined,
    ],
  ])("starts the Job of a moment %s", (_when, spec, status, moment) => {
    const { steps, wait } = planned(cronJob(spec, status));
    const name = `tick-${Date.parse(moment ?? "") / 60_000}`;
    expect(steps.map((step) => step.type === "create-job" && step.job.metadata.name)).toEqual(
      moment === undefined ? [] : [name],
    );
    expect(wait === undefined).toBe(moment !== undefined);
  });

  test("next to a Job that runs, or that another client is deleting, starts none where that is forbidden", () => {
    const message = "Not starting job because prior execution is running and concurrency policy is Forbid";
    const forbids = (jobs: Job[], leaving: Job[]) =>
      planned(cronJob({ concurrencyPolicy: "Forbid" }, due), jobs, leaving);
    for (const [jobs, leaving] of [
      [[startedFor("a", 900)], []],
      [[], [startedFor("a", 900)]],
    ] as [Job[], Job[]][]) {
      const { steps, events, wait } = forbids(jobs, leaving);
      expect([steps, events, wait]).toEqual([[], [{ type: "Normal", reason: "JobAlreadyActive", message }], next]);
    }
    const { steps } = forbids([startedFor("a", 900, "Complete")], [startedFor("b", 900, "Failed")]);
    expect(steps.map(({ type }) => type)).toEqual(["create-job"]);
  });

  test("replaces Jobs that run, and lists those that another client is deleting while they run", () => {
    const jobs = [startedFor("a", 900), startedFor("b", 900, "Complete")];
    const leaving = [startedFor("c", 900), startedFor("d", 900, "Failed")];
    const replaced = planned(cronJob({ concurrencyPolicy: "Replace" }, due), jobs, leaving);
    expect(replaced.steps).toMatchObject([{ type: "delete-job", target: { name: "a" } }, { type: "create-job" }]);
    expect(replaced.status.active?.map(({ name }) => name)).toEqual(["c"]);
    const both = planned(cronJob({}, due), jobs, leaving).status.active?.map(({ name }) => name);
    expect(both).toEqual(["a", "c"]);
  });

  test("gives a Job the labels and annotations of its template, and the moment that it is for", () => {
    const metadata = { labels: { a: "b" }, annotations: { c: "d" } };
    const spec = { template: { spec: { containers: [] } } };
    const [step] = planned(cronJob({ jobTemplate: { metadata, spec } })).steps;
    expect(step).toEqual({
      type: "create-job",
      job: {
        apiVersion: "batch/v1",
        kind: "Job",
        metadata: {
          name: `tick-${latest}`,
          namespace: "default",
          labels: { a: "b" },
          annotations: { c: "d", "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T12:00:00Z" },
          ownerReferences: [controlledBy(cronJob())],
        },
        spec,
      },
    });
    const [plain] = planned(cronJob()).steps;
    expect(plain?.type === "create-job" && plain.job.metadata).not.toHaveProperty("labels");
  });

  test.each([
    ["4/7 * * * *", "2026-01-01T11:53:00Z"],
    ["0 * * * *", "2026-01-01T12:00:00Z"],
    ["17 3 * * *", "2026-01-01T03:17:00Z"],
    ["1 12 * * *", "2025-12-31T12:01:00Z"],
    ["0 0 1 * *", "2026-01-01T00:00:00Z"],
    ["0 0 29 12 *", "2025-12-29T00:00:00Z"],
  ])("starts the last moment of %s after years", (schedule, moment) => {
    const { steps } = planned(cronJob({ schedule }, { lastScheduleTime: "2013-05-06T07:08:09Z" }));
    expect(steps).toMatchObject([{ job: { metadata: { name: `tick-${Date.parse(moment) / 60_000}` } } }]);
  });

  test("says how many moments it missed, and what to do", () => {
    const { events = [] } = planned(cronJob({ schedule: "* * * * *" }, { lastScheduleTime: at(150 * 60) }));
    const message = expect.stringMatching(
      /^too many missed start times: \d+\. Set or decrease \.spec\.startingDeadlineSeconds or check clock skew$/,
    ) as string;
    expect(events).toEqual([{ type: "Warning", reason: "TooManyMissedTimes", message }]);
  });
});
