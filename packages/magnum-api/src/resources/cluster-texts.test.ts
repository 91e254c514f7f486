import { expect, it } from "vitest";
import type { MagnumCluster, MagnumTemplateAttributes } from "@causeway/api";
import { ClusterTexts } from "./cluster-texts.ts";
import { clusterDetail, clusterSummary } from "./cluster-view.ts";

const template: MagnumTemplateAttributes = {
  imageID: "i",
  coe: "kubernetes",
  tlsDisabled: false,
  public: false,
  registryEnabled: false,
  serverType: "vm",
  masterLBEnabled: false,
  floatingIPEnabled: true,
  hidden: false,
};
const cluster = (name: string): MagnumCluster => ({
  apiVersion: "magnum.causeway.dev/v1alpha1",
  kind: "MagnumCluster",
  metadata: { name: "one-0198", namespace: "magnum-p", creationTimestamp: "2026-01-01T00:00:00Z" },
  spec: {
    uuid: "01980000-0000-7000-8000-000000000001",
    name,
    projectID: "p",
    userID: "u",
    templateUUID: "01980000-0000-7000-8000-000000000000",
    template,
    version: "v1.34.0",
    masterCount: 1,
    masterUUID: "01980000-0000-7000-8000-000000000002",
    labels: { quoted: 'a "b" }' },
    createTimeout: 60,
    floatingIPEnabled: true,
    masterLBEnabled: false,
    nodeGroups: [],
  },
});

it("the text of a cluster in a list is the JSON of its view, for each version, form and origin", () => {
  const texts = new ClusterTexts();
  const one = cluster("one");
  for (const minor of [1, 12, 13, 14, 1])
    for (const origin of ["http://a:9511", "https://magnum.example.org"]) {
      const call = { origin, minor };
      expect(JSON.parse(texts.of(one, call, false))).toEqual(clusterSummary(one, call));
      expect(JSON.parse(texts.of(one, call, true))).toEqual(clusterDetail(one, call));
    }
});

it("a newer revision of a cluster has a text of its own", () => {
  const texts = new ClusterTexts();
  const call = { origin: "http://a", minor: 1 };
  const [before, after] = [cluster("before"), cluster("after")];
  expect(texts.of(before, call, false)).toContain('"before"');
  expect(texts.of(after, call, false)).toContain('"after"');
  expect(texts.of(before, call, false)).toContain('"before"');
});
