import { seededClouds, seededPassword } from "../identity/seed.ts";

/** The clouds.yaml of a simulated cloud. */
export function cloudsYamlOf(authUrl: string, region: string): string {
  const entries = seededClouds.map(
    ([cloud, user, project]) => `  ${cloud}:
    auth:
      auth_url: ${authUrl}
      username: ${user}
      password: ${seededPassword}
      project_name: ${project}
      user_domain_name: Default
      project_domain_name: Default
    region_name: ${region}
    interface: public
    identity_api_version: 3
`,
  );
  return `clouds:\n${entries.join("")}`;
}
