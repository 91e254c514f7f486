import type { Context, Hono } from "hono";
import type { Server } from "../../compute/model.ts";
import { asking, missing } from "../kit/request.ts";
import {
  ec2Data,
  metaData,
  metadataVersions,
  networkData,
  userData,
  type ServerDocuments,
} from "../rules/documents.ts";

/** The documents of a server, in OpenStack's layout and in EC2's, and the lists of their names. */
export function mountDocuments(app: Hono, documents: ServerDocuments): void {
  const serve = (path: string, answer: (c: Context, server: Server) => Response) => {
    for (const way of [path, `${path}/`]) {
      app.get(way, (c) => {
        const server = asking(documents, c);
        return server ? answer(c, server) : missing(c);
      });
    }
  };
  serve("/", (c) => c.text(["1.0", "2009-04-04", "latest"].join("\n")));
  serve("/openstack", (c) => c.text(metadataVersions.join("\n")));
  const version = `/openstack/:version{${metadataVersions.join("|")}}`;
  serve(version, (c, server) => {
    const user = server.user_data === null ? [] : ["user_data"];
    return c.text(
      ["meta_data.json", ...user, "password", "vendor_data.json", "network_data.json", "vendor_data2.json"].join("\n"),
    );
  });
  serve(`${version}/meta_data.json`, (c, server) => c.json(metaData(documents, server)));
  serve(`${version}/network_data.json`, (c, server) => c.json(networkData(documents, server)));
  serve(`${version}/:vendor{vendor_data2?\\.json}`, (c) => c.json({}));
  serve(`${version}/password`, (c) => c.text(""));
  const user = (c: Context, server: Server) => {
    const text = userData(server);
    return text === undefined ? missing(c) : c.body(text, 200, { "content-type": "application/octet-stream" });
  };
  serve(`${version}/user_data`, user);
  const ec2 = "/:version{1\\.0|2009-04-04|latest}";
  serve(ec2, (c, server) => c.text(["meta-data/", ...(server.user_data === null ? [] : ["user-data"])].join("\n")));
  serve(`${ec2}/user-data`, user);
  app.get(`${ec2}/meta-data/:path{.*}`, (c) => {
    const server = asking(documents, c);
    const text = server && below(ec2Data(documents, server), c.req.param("path").replace(/\/$/, ""));
    return text === undefined ? missing(c) : c.text(text);
  });
  serve(`${ec2}/meta-data`, (c, server) => c.text(below(ec2Data(documents, server), "") ?? ""));
}

/** A value, or the names below a path; folders end in "/". */
function below(data: ReadonlyMap<string, string>, path: string): string | undefined {
  const value = data.get(path);
  if (value !== undefined) return value;
  const prefix = path === "" ? "" : `${path}/`;
  const names = [...data.keys()].filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
  if (names.length === 0) return undefined;
  return [...new Set(names.map((name) => name.replace(/\/.*$/, "/")))].join("\n");
}
