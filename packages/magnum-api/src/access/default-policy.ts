const member = "rule:admin_or_project_member";
const reader = "rule:admin_or_project_reader";
const admin = "rule:context_is_admin";

const each = (prefix: string, rules: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(rules).map(([name, rule]) => [`${prefix}:${name}`, rule]));

/**
 * Magnum's policies of 2023.2 and later, by name. One differs: upstream lets only the user who created a cluster fetch
 * its certificates, so that a colleague cannot use `openstack coe cluster config`; here members and readers of its
 * project may.
 */
export const defaultPolicy: Readonly<Record<string, string>> = {
  context_is_admin: "role:admin",
  admin_or_owner: "is_admin:True or project_id:%(project_id)s",
  admin_or_user: "is_admin:True or user_id:%(user_id)s",
  is_user: "user_id:%(user_id)s",
  project_member: "role:member and project_id:%(project_id)s",
  project_reader: "role:reader and project_id:%(project_id)s",
  admin_or_project_reader: "(rule:context_is_admin) or (rule:project_reader)",
  admin_or_project_member: "(rule:context_is_admin) or (rule:project_member)",
  admin_or_project_member_user: "(rule:context_is_admin) or ((rule:project_member) and (rule:is_user))",
  admin_or_project_member_user_or_cluster_user: "(rule:context_is_admin) or ((rule:project_member) and (rule:is_user))",
  project_member_deny_cluster_user: "rule:project_member",
  admin_or_project_member_deny_cluster_user: "(rule:context_is_admin) or (rule:project_member)",
  project_reader_deny_cluster_user: "rule:project_reader",
  admin_or_project_reader_deny_cluster_user: "(rule:context_is_admin) or (rule:project_reader)",
  admin_or_project_reader_user: "(rule:context_is_admin) or ((rule:project_reader) and (rule:is_user))",
  ...each("cluster", {
    create: member,
    delete: member,
    delete_all_projects: admin,
    detail: reader,
    detail_all_projects: admin,
    get: reader,
    get_one_all_projects: admin,
    get_all: reader,
    get_all_all_projects: admin,
    update: member,
    update_health_status: "rule:admin_or_project_member_user_or_cluster_user",
    update_all_projects: admin,
    resize: member,
    upgrade: member,
    upgrade_all_projects: admin,
  }),
  ...each("clustertemplate", {
    create: member,
    delete: member,
    delete_all_projects: admin,
    detail: reader,
    detail_all_projects: admin,
    get: reader,
    get_one_all_projects: admin,
    get_all: reader,
    get_all_all_projects: admin,
    update: member,
    update_all_projects: admin,
    publish: admin,
  }),
  ...each("nodegroup", {
    get: reader,
    get_all: reader,
    get_all_all_projects: admin,
    get_one_all_projects: admin,
    create: member,
    delete: member,
    update: member,
  }),
  ...each("certificate", { create: member, get: reader, rotate_ca: member }),
  ...each("quota", { create: admin, delete: admin, get: reader, get_all: admin, update: admin }),
  ...each("federation", {
    create: member,
    delete: member,
    detail: reader,
    get: reader,
    get_all: reader,
    update: member,
  }),
  "stats:get_all": reader,
  "credential:rotate": "rule:project_member",
  "magnum-service:get_all": admin,
};
