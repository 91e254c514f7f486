import { CONFIG_MAPS, configMap, upTo, type Attack } from "../target.ts";

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
const PARTIAL = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
const LARGE = upTo(60).map((n) => JSON.stringify(configMap(`large-${n}`, { a: "x".repeat(1_000_000) })));

/** Reads of 60 objects of 1 MB: the first of these attacks makes them. */
export const reads: readonly Attack[] = [
  {
    title: "60 ConfigMaps of 1 MB are created",
    lasts: 5_000,
    run: (t) =>
      t.repeat(LARGE.length, 4, (n) => ({
        method: "POST",
        path: CONFIG_MAPS,
        type: "application/json",
        body: LARGE[n] ?? "",
      })),
  },
  {
    title: "10 watches of everything from the beginning are not read",
    run: async (t) => {
      await t.repeat(10, 10, () => ({ path: `${CONFIG_MAPS}?watch=true`, unread: true }));
      await t.rest();
    },
  },
  {
    title: "150 watches as tables are not read",
    run: async (t) => {
      await t.repeat(150, 150, () => ({ path: `${CONFIG_MAPS}?watch=true`, accept: TABLE, unread: true }));
      await t.rest();
    },
  },
  {
    title: "20 lists of 60 MB are not read",
    run: async (t) => {
      await t.repeat(20, 20, () => ({ path: CONFIG_MAPS, unread: true }));
      await t.rest();
    },
  },
  {
    title: "40 clients list 60 MB again and again",
    lasts: 3_000,
    run: (t) => t.repeat(400, 40, () => ({ path: CONFIG_MAPS })),
  },
  {
    title: "40 clients list the metadata of 60 MB again and again",
    run: (t) => t.repeat(400, 40, () => ({ path: CONFIG_MAPS, accept: PARTIAL })),
  },
  {
    title: "a list is filtered by selectors of 1,500 values",
    run: (t) => {
      const values = upTo(1_500)
        .map((n) => `v${n}`)
        .join(",");
      return t.repeat(200, 10, () => ({
        path: `${CONFIG_MAPS}?labelSelector=${encodeURIComponent(`a in (${values}),b notin (${values})`)}`,
      }));
    },
  },
  {
    title: "a list is read in pages of one by 20 clients",
    run: (t) => t.repeat(2_000, 20, () => ({ path: `${CONFIG_MAPS}?limit=1` })),
  },
  {
    title: "continue tokens are forged",
    run: (t) => {
      const tokens = [
        "../../",
        "null",
        '{"v":"meta.k8s.io/v1","rv":-1,"start":"../../secrets"}',
        "x".repeat(8_000),
        "[".repeat(5_000),
      ];
      return t.repeat(500, 20, (n) => {
        const token = Buffer.from(tokens[n % tokens.length] ?? "").toString("base64url");
        return { path: `${CONFIG_MAPS}?limit=1&continue=${token}` };
      });
    },
  },
  {
    title: "200 watches whose client does not read see writes of 300 kB",
    lasts: 3_000,
    run: async (t) => {
      await t.repeat(200, 50, () => ({
        path: `${CONFIG_MAPS}?watch=true&resourceVersion=0&fieldSelector=metadata.name%3Dnoise`,
        unread: true,
      }));
      await t.create(CONFIG_MAPS, configMap("noise"));
      await t.repeat(200, 2, (n) => ({
        method: "PUT",
        path: `${CONFIG_MAPS}/noise`,
        type: "application/json",
        body: JSON.stringify(configMap("noise", { a: `${n}${"x".repeat(300_000)}` })),
      }));
    },
  },
  {
    title: "1,500 events and 1,500 leases are written as fast as they go",
    run: (t) =>
      t.repeat(3_000, 40, (n) => {
        const event = {
          apiVersion: "v1",
          kind: "Event",
          metadata: { generateName: "e-" },
          involvedObject: { namespace: "default" },
          reason: `r${n}`,
        };
        const lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { generateName: "l-" } };
        const path =
          n % 2 ? "/api/v1/namespaces/default/events" : "/apis/coordination.k8s.io/v1/namespaces/default/leases";
        return { method: "POST", path, type: "application/json", body: JSON.stringify(n % 2 ? event : lease) };
      }),
  },
  {
    title: "the collection of ConfigMaps is deleted while it is read",
    lasts: 4_000,
    run: (t) =>
      Promise.all([
        t.send({ method: "DELETE", path: `${CONFIG_MAPS}?fieldSelector=metadata.name%21%3Dvictim` }),
        t.repeat(40, 10, () => ({ path: CONFIG_MAPS })),
      ]),
  },
];
