import assert from "node:assert/strict";
import { createIdentityClient, issueToken } from "../identity-client.ts";
import { failsWith, type ContractCase, type ContractContext } from "./case.ts";

const PASSWORD = "A-pass-phrase-of-the-contract-1";

/** A user of the cloud's default domain with a role in the project that the cases work in. */
async function makeUser(context: ContractContext, what = "user") {
  const { admin, cloud } = context;
  const user = await admin.identity.users.create({ name: context.name(what), password: PASSWORD });
  context.cleanup(() => admin.identity.users.delete(user.id));
  const role = (await admin.identity.roles.all({ name: "member" }))[0];
  assert.ok(role, "the role member");
  await admin.identity.grant({ user: user.id, project: await cloud.projectId(), role: role.id });
  return { user, role };
}

/** What we rely on of Keystone: projects, users, roles, application credentials, trusts and the catalog. */
export const identityCases: readonly ContractCase[] = [
  {
    name: "a project is made, changed, tagged and deleted, and its name is reserved while it is there",
    needs: { admin: true },
    async run(context) {
      const { projects } = context.admin.identity;
      const made = await projects.create({ name: context.name("project"), description: "one", tags: ["a"] });
      context.cleanup(() => projects.delete(made.id));
      assert.equal(made.enabled, true);
      assert.equal(made.is_domain, false);
      assert.deepEqual(made.tags, ["a"]);
      await failsWith(projects.create({ name: made.name }), "OPENSTACK_CONFLICT");
      const changed = await projects.update(made.id, { description: "two", enabled: false });
      assert.equal(changed.description, "two");
      assert.equal(changed.enabled, false);
      assert.deepEqual(
        (await projects.all({ name: made.name })).map((p) => p.id),
        [made.id],
      );
      await projects.delete(made.id);
      assert.equal(await projects.find(made.id), undefined);
      await projects.delete(made.id);
    },
  },
  {
    name: "a user without a role gets no token for the project, and with one does",
    needs: { admin: true },
    async run(context) {
      const { admin, cloud, config } = context;
      const user = await admin.identity.users.create({ name: context.name("user"), password: PASSWORD });
      context.cleanup(() => admin.identity.users.delete(user.id));
      const projectId = await cloud.projectId();
      const auth = { type: "password", userId: user.id, password: PASSWORD } as const;
      await failsWith(context.connect({ auth, scope: { projectId } }).projectId(), "OPENSTACK_UNAUTHORIZED");
      const role = (await admin.identity.roles.all({ name: "member" }))[0];
      assert.ok(role);
      const grant = { user: user.id, project: projectId, role: role.id };
      await admin.identity.grant(grant);
      await admin.identity.grant(grant);
      assert.equal(await context.connect({ auth, scope: { projectId } }).projectId(), projectId);
      const assigned = await admin.identity.roleAssignments.all({ "user.id": user.id });
      assert.deepEqual(
        assigned.map((a) => [a.role.id, a.scope.project?.id]),
        [[role.id, projectId]],
      );
      await admin.identity.revoke(grant);
      await admin.identity.revoke(grant);
      assert.deepEqual(await admin.identity.roleAssignments.all({ "user.id": user.id }), []);
      assert.ok(config.authUrl);
    },
  },
  {
    name: "an application credential speaks for its user in its project until it is deleted",
    needs: { admin: true },
    async run(context) {
      const { user } = await makeUser(context);
      const scope = { projectId: await context.cloud.projectId() };
      const own = context.connect({ auth: { type: "password", userId: user.id, password: PASSWORD }, scope });
      assert.equal(await own.identity.currentUserId(), user.id);
      const credentials = own.identity.applicationCredentials(user.id);
      const made = await credentials.create({ name: context.name("credential") });
      assert.ok(made.secret, "a secret, once");
      assert.equal((await credentials.get(made.id)).secret, undefined);
      await failsWith(credentials.create({ name: made.name }), "OPENSTACK_CONFLICT");
      const auth = { type: "application_credential", id: made.id, secret: made.secret } as const;
      const { scope: _none, ...rest } = context.config;
      const by = context.connect({ ...rest, auth, scope: {} });
      assert.equal(await by.projectId(), scope.projectId);
      await failsWith(
        by.identity.applicationCredentials(user.id).create({ name: context.name("second") }),
        "OPENSTACK_FORBIDDEN",
      );
      await credentials.delete(made.id);
      await failsWith(context.connect({ ...rest, auth, scope: {} }).projectId(), "OPENSTACK_UNAUTHORIZED");
    },
  },
  {
    name: "a trust lets one user act for another in a project",
    needs: { admin: true },
    async run(context) {
      const { user: trustor } = await makeUser(context, "trustor");
      const trustee = await context.admin.identity.users.create({ name: context.name("trustee"), password: PASSWORD });
      context.cleanup(() => context.admin.identity.users.delete(trustee.id));
      const scope = { projectId: await context.cloud.projectId() };
      const own = context.connect({ auth: { type: "password", userId: trustor.id, password: PASSWORD }, scope });
      const trust = await own.identity.trusts.create({
        trustor_user_id: trustor.id,
        trustee_user_id: trustee.id,
        impersonation: true,
        project_id: scope.projectId,
        roles: [{ name: "member" }],
      });
      const auth = { type: "password", userId: trustee.id, password: PASSWORD } as const;
      const by = context.connect({ auth, scope: { trustId: trust.id } });
      assert.equal(await by.projectId(), scope.projectId);
      assert.equal(await by.identity.currentUserId(), trustor.id);
      await own.identity.trusts.delete(trust.id);
      await failsWith(
        context.connect({ auth, scope: { trustId: trust.id } }).projectId(),
        "OPENSTACK_UNAUTHORIZED",
        "OPENSTACK_FORBIDDEN",
        "OPENSTACK_NOT_FOUND",
      );
    },
  },
  {
    name: "users, groups, roles and domains are made, found by name and deleted",
    needs: { admin: true },
    async run(context) {
      const { identity } = context.admin;
      const group = await identity.groups.create({ name: context.name("group") });
      context.cleanup(() => identity.groups.delete(group.id));
      const { user } = await makeUser(context);
      await identity.addToGroup(group.id, user.id);
      await identity.removeFromGroup(group.id, user.id);
      await identity.removeFromGroup(group.id, user.id);
      const role = await identity.roles.create({ name: context.name("role") });
      context.cleanup(() => identity.roles.delete(role.id));
      assert.equal((await identity.roles.all({ name: role.name }))[0]?.id, role.id);
      await failsWith(identity.roles.create({ name: role.name }), "OPENSTACK_CONFLICT");
      const domain = await identity.domains.create({ name: context.name("domain") });
      await failsWith(identity.domains.delete(domain.id), "OPENSTACK_FORBIDDEN");
      await identity.domains.update(domain.id, { enabled: false });
      await identity.domains.delete(domain.id);
      assert.equal(await identity.domains.find(domain.id), undefined);
    },
  },
  {
    name: "regions, services and endpoints of the catalog can be read by an administrator only",
    needs: { admin: true },
    async run({ admin, cloud }) {
      const services = await admin.identity.services.all();
      const network = services.find((s) => s.type === "network");
      assert.ok(network);
      const endpoints = await admin.identity.endpoints.all({ service_id: network.id });
      assert.ok(endpoints.some((e) => e.interface === "public" && e.region_id === cloud.region));
      assert.ok((await admin.identity.regions.all()).some((r) => r.id === cloud.region));
      await failsWith(cloud.identity.services.all(), "OPENSTACK_FORBIDDEN");
      await failsWith(cloud.identity.users.all(), "OPENSTACK_FORBIDDEN");
    },
  },
  {
    name: "a token validates itself, reads its own user's groups and no other's, and is refused when forged or revoked",
    needs: { admin: true },
    async run(context) {
      const { admin, cloud, config } = context;
      const { user, role } = await makeUser(context);
      const group = await admin.identity.groups.create({ name: context.name("group") });
      context.cleanup(() => admin.identity.groups.delete(group.id));
      await admin.identity.addToGroup(group.id, user.id);
      const projectId = await cloud.projectId();
      const auth = { type: "password", userId: user.id, password: PASSWORD } as const;
      const { scope: _, ...unscoped } = config;
      const issued = await issueToken({ ...config, auth, scope: { projectId } });
      assert.equal(issued.projectId, projectId);
      assert.ok(issued.expires > context.clock.now());
      const client = createIdentityClient(config);
      try {
        const facts = await client.validate(issued.token);
        assert.deepEqual([facts.user.id, facts.project?.id], [user.id, projectId]);
        assert.ok(facts.roles?.some((r) => r.id === role.id));
        assert.deepEqual(
          (await client.groups(issued.token, user.id)).map((g) => g.name),
          [group.name],
        );
        const other = await issueToken(config);
        await failsWith(client.groups(other.token, user.id), "OPENSTACK_FORBIDDEN");
        const bare = await issueToken({ ...unscoped, auth });
        assert.equal((await client.validate(bare.token)).project, undefined);
        for (const forged of [
          `${issued.token.slice(0, -6)}AAAAAA`,
          "gAAAAABgarbage",
          "0123456789abcdef0123456789abcdef",
        ])
          await failsWith(client.validate(forged), "OPENSTACK_UNAUTHORIZED");
        await admin.identity.revokeToken(issued.token);
        await failsWith(client.validate(issued.token), "OPENSTACK_UNAUTHORIZED");
      } finally {
        client.close();
      }
    },
  },
  {
    name: "an application credential gets a token with its own project and roles, until it is deleted",
    async run(context) {
      const { cloud, config } = context;
      const userId = await cloud.identity.currentUserId();
      const credentials = cloud.identity.applicationCredentials(userId);
      const made = await credentials.create({ name: context.name("credential") });
      context.cleanup(() => credentials.delete(made.id));
      const auth = { type: "application_credential", id: made.id, secret: made.secret ?? "" } as const;
      const { scope: _, ...rest } = config;
      const issued = await issueToken({ ...rest, auth });
      const client = createIdentityClient(config);
      try {
        const facts = await client.validate(issued.token);
        assert.deepEqual([facts.user.id, facts.project?.id], [userId, await cloud.projectId()]);
        assert.ok(Array.isArray(await client.groups(issued.token, userId)));
        await credentials.delete(made.id);
        await failsWith(client.validate(issued.token), "OPENSTACK_NOT_FOUND");
      } finally {
        client.close();
      }
    },
  },
];
