import { expect } from "vitest";
import type { CaseGroup, Context } from "../interface.ts";

const ENDPOINTS = ["healthz", "livez", "readyz"] as const;
const CHECKS = [
  "ping",
  "log",
  "etcd",
  "poststarthook/start-apiextensions-controllers",
  "poststarthook/rbac/bootstrap-roles",
];

export const health: CaseGroup = {
  title: "health",
  cases: [
    ...ENDPOINTS.map((endpoint) => ({
      name: `/${endpoint} is ok in plain text`,
      async run({ api }: Context) {
        const { code, text, headers } = await api.get(`/${endpoint}`);
        expect({ code, text, type: headers["content-type"], sniff: headers["x-content-type-options"] }).toEqual({
          code: 200,
          text: "ok",
          type: "text/plain; charset=utf-8",
          sniff: "nosniff",
        });
      },
    })),
    ...ENDPOINTS.map((endpoint) => ({
      name: `/${endpoint}?verbose lists every check`,
      async run({ api }: Context) {
        const lines = (await api.get(`/${endpoint}?verbose`)).text.split("\n");
        expect(lines.slice(-2)).toEqual([`${endpoint} check passed`, ""]);
        expect(lines).toEqual(expect.arrayContaining(CHECKS.map((c) => `[+]${c} ok`)));
      },
    })),
    ...ENDPOINTS.flatMap((endpoint) =>
      CHECKS.map((check) => ({
        name: `/${endpoint}/${check} is a check by itself`,
        async run({ api }: Context) {
          const { code, text } = await api.get(`/${endpoint}/${check}?verbose`);
          expect({ code, text }).toEqual({ code: 200, text: "ok" });
        },
      })),
    ),
    {
      name: "readyz checks what only it checks",
      async run({ api }) {
        for (const check of ["etcd-readiness", "informer-sync", "shutdown"]) {
          expect((await api.get(`/readyz/${check}`)).text).toBe("ok");
          expect((await api.get(`/livez/${check}`)).code).toBe(404);
        }
      },
    },
    {
      name: "excluded checks are marked, and unknown exclusions are reported",
      async run({ api }) {
        const { text } = await api.get("/readyz?verbose&exclude=etcd&exclude=b&exclude=a");
        expect(text).toContain("[+]etcd excluded: ok\n");
        expect(text).toContain(
          'warn: some health checks cannot be excluded: no matches for "a","b"\nreadyz check passed\n',
        );
      },
    },
    {
      name: "a check that is not there is not found",
      async run({ api }) {
        for (const path of ["/healthz/nope", "/healthz/"]) {
          const { code, text } = await api.get(path);
          expect({ code, text }).toEqual({ code: 404, text: "404 page not found\n" });
        }
      },
    },
    {
      name: "anonymous users may read the roots of health checks, and no single check",
      async run({ as }) {
        const anonymous = await as({ anonymous: true });
        expect((await anonymous.get("/livez?verbose")).code).toBe(200);
        expect((await anonymous.get("/livez/ping")).code).toBe(403);
      },
    },
    {
      name: "the paths of health checks are in the list of paths",
      async run({ api }) {
        const paths = (await api.get("/")).body["paths"] as string[];
        expect(paths).toEqual(paths.toSorted());
        expect(paths).toEqual(
          expect.arrayContaining(["/apis/apps", "/apis/apps/v1", "/healthz/etcd", "/readyz/shutdown"]),
        );
      },
    },
    {
      name: "/version has the emulation version and the minimum compatibility version",
      async run({ api }) {
        expect((await api.get("/version")).body).toMatchObject({
          major: "1",
          minor: "34",
          emulationMajor: "1",
          emulationMinor: "34",
          minCompatibilityMajor: "1",
          minCompatibilityMinor: "33",
          gitVersion: expect.stringMatching(/^v1\.34\.\d+$/) as string,
          platform: expect.stringMatching(/^linux\//) as string,
        });
      },
    },
  ],
};
