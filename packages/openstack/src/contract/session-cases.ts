import assert from "node:assert/strict";
import { cloudIdentity } from "../identity.ts";
import { failsWith, type ContractCase } from "./case.ts";

/** What we rely on of tokens, the catalog and version documents. */
export const sessionCases: readonly ContractCase[] = [
  {
    name: "services return their versions, and their clocks agree with ours",
    async run({ cloud }) {
      for (const service of ["compute", "network", "load-balancer", "image", "identity"] as const) {
        const described = await cloud.describe(service);
        assert.ok((described?.versions.length ?? 0) > 0, service);
        assert.ok(Math.abs(described?.skew ?? 0) <= 5_000, `${service}: ${described?.skew}`);
      }
      const octavia = await cloud.describe("load-balancer");
      assert.ok(octavia?.versions.some((version) => /^v2\.\d+$/.test(version.id) && version.status === "CURRENT"));
      const nova = await cloud.describe("compute");
      assert.ok(nova?.versions.some((version) => /^2\.\d+$/.test(version.maximum ?? "")));
    },
  },
  {
    name: "a token comes with a project, a region and the services' addresses",
    async run({ cloud }) {
      assert.match(await cloudIdentity(cloud), /^[^/]+\/[0-9a-f]{32}$/);
      for (const service of ["network", "compute", "load-balancer", "image", "block-storage"]) {
        assert.ok(await cloud.has(service), service);
      }
      assert.equal(cloud.stats().byRoute["POST identity /auth/tokens"], 1);
    },
  },
  {
    name: "a wrong password is refused with a hint",
    async run({ connect }) {
      const wrong = connect({ auth: { type: "password", username: "unknown", password: "wrong" } });
      const error = await failsWith(wrong.projectId(), "OPENSTACK_UNAUTHORIZED");
      assert.match(error.hint ?? "", /password/);
      assert.equal(error.details["status"], 401);
    },
  },
  {
    name: "an unknown token or application credential is refused, too",
    async run({ connect }) {
      const token = connect({ auth: { type: "token", token: "gAAAAABnonsense" } });
      await failsWith(token.projectId(), "OPENSTACK_UNAUTHORIZED");
      const auth = { type: "application_credential", id: "0123456789abcdef0123456789abcdef", secret: "x" } as const;
      await failsWith(connect({ auth }).projectId(), "OPENSTACK_UNAUTHORIZED");
    },
  },
  {
    name: "an unknown region is named in the error, with those that exist",
    async run({ connect }) {
      const error = await failsWith(connect({ region: "Nowhere" }).projectId(), "CLOUD_REGION_NOT_FOUND");
      assert.match(error.hint ?? "", /\w/);
    },
  },
  {
    name: "a missing resource of every service is OPENSTACK_NOT_FOUND, with a message and a request id",
    async run({ cloud }) {
      const id = "00000000-0000-4000-8000-000000000000";
      const { network, compute, loadBalancing, image, blockStorage } = cloud;
      const asked = [
        () => network.ports.get(id),
        () => compute.servers.get(id),
        () => loadBalancing.loadBalancers.get(id),
        () => image.images.get(id),
        () => blockStorage.volumes.get(id),
      ];
      for (const ask of asked) {
        const error = await failsWith(ask(), "OPENSTACK_NOT_FOUND");
        assert.match(String(error.details["serviceMessage"]), /\S/);
        assert.match(String(error.details["requestId"]), /^req-/);
      }
      assert.equal(await network.routers.find(id), undefined);
      await network.ports.delete(id);
      await loadBalancing.deleteLoadBalancer(id, { cascade: true });
    },
  },
  {
    name: "a microversion beyond what the cloud supports is refused before anything is sent",
    async run({ cloud }) {
      await cloud.compute.servers.all();
      const before = cloud.stats().total;
      await failsWith(cloud.compute.servers.all({}, { microversion: "2.999" }), "OPENSTACK_MICROVERSION");
      assert.equal(cloud.stats().total, before);
      assert.equal(cloud.stats().byRoute["GET compute /"], 1);
    },
  },
  {
    name: "flavors, images, zones, limits, volume types, providers and extensions can be read",
    async run({ cloud, flavor, image }) {
      const { compute } = cloud;
      assert.ok((await compute.flavors.all()).some((f) => f.name === flavor && f.vcpus > 0));
      assert.ok((await cloud.image.images.all({ name: image })).some((i) => i.status === "active"));
      assert.ok((await compute.availabilityZones()).some((z) => z.zoneState.available));
      assert.ok((await compute.limits())["maxTotalInstances"] !== undefined);
      assert.ok((await cloud.blockStorage.volumeTypes.all()).length > 0);
      assert.ok((await cloud.loadBalancing.providers.all()).some((p) => p.name === "ovn"));
      assert.ok((await cloud.network.extensions()).has("standard-attr-tag"));
      await compute.keypairs.all();
      await compute.serverGroups.all();
      await cloud.blockStorage.volumes.all();
    },
  },
];
