/**
 * The images of Kubernetes' conformance specs, under the names that the suite of this release asks for. Programs of
 * Kubernetes are built from its module; web servers and tools for DNS are Debian's.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { ImageRecipe } from "./images.ts";

const REGISTRY = "registry.k8s.io/e2e-test-images";

/** With the libraries that they are linked with. */
const DIG = [
  ["bind9-dnsutils", "bind9-libs", "libuv1", "libjson-c5", "liblmdb0", "libmaxminddb0", "libxml2", "libicu72"],
  ["liblzma5", "libstdc++6", "libgcc-s1", "libprotobuf-c1", "libfstrm0", "libjemalloc2", "libnghttp2-14", "libssl3"],
  ["libgssapi-krb5-2", "libkrb5-3", "libk5crypto3", "libkrb5support0", "libcom-err2", "libkeyutils1", "libidn2-0"],
  ["libunistring2", "libedit2", "libbsd0", "libmd0", "libtinfo6", "zlib1g"],
].flat();
const CURL = [
  ["curl", "libcurl4", "libbrotli1", "libgnutls30", "libhogweed6", "libnettle8", "libgmp10", "libldap-2.5-0"],
  ["libp11-kit0", "libffi8", "libpsl5", "librtmp1", "libsasl2-2", "libdb5.3", "libssh2-1", "libtasn1-6", "libzstd1"],
].flat();
const SHELL = ["busybox", "libc6", "libc-bin"];
const APACHE = ["apache2-bin", "libapr1", "libaprutil1", "libpcre2-8-0", "libcrypt1", "libexpat1", "libuuid1"];
const NGINX = ["nginx", "libpcre2-8-0", "libcrypt1", "libssl3", "zlib1g"];

const USERS: Readonly<Record<string, string>> = {
  "etc/passwd": [
    "root:x:0:0:root:/root:/bin/sh",
    "www-data:x:33:33:www-data:/var/www:/bin/false",
    "user-defined-in-image:x:1000:1000::/home/user:/bin/sh",
    "",
  ].join("\n"),
  "etc/group": [
    "root:x:0:",
    "www-data:x:33:",
    "user-defined-in-image:x:1000:",
    "group-defined-in-image:x:50000:user-defined-in-image",
    "nogroup:x:65534:",
    "",
  ].join("\n"),
  "etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
};

const HTTPD_CONF = `ServerRoot "/usr/local/apache2"
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule dir_module /usr/lib/apache2/modules/mod_dir.so
Listen 80
ServerName localhost
User www-data
Group www-data
DefaultRuntimeDir /tmp
PidFile /tmp/httpd.pid
ErrorLog /dev/stderr
DocumentRoot /usr/local/apache2/htdocs
DirectoryIndex index.html
`;

const NGINX_CONF = `error_log /dev/stderr;
pid /tmp/nginx.pid;
user www-data www-data;
daemon off;
events {}
http {
  access_log off;
  client_body_temp_path /tmp/body;
  proxy_temp_path /tmp/proxy;
  fastcgi_temp_path /tmp/fastcgi;
  uwsgi_temp_path /tmp/uwsgi;
  scgi_temp_path /tmp/scgi;
  server {
    listen 80;
    root /usr/share/nginx/html;
  }
}
`;

const WORKS = "<html><body><h1>It works!</h1></body></html>\n";

interface BaseOf {
  readonly files?: Readonly<Record<string, string>>;
  readonly links?: Readonly<Record<string, string>>;
  /** A program that runs as its owner, by its path in the image. */
  readonly setuid?: Readonly<Record<string, string>>;
}

/** What fills a root file system first, and the revision by which a change of it is known. */
function baseOf({ files = {}, links = {}, setuid = {} }: BaseOf): Pick<ImageRecipe, "base" | "revision"> {
  const within = (rootfs: string, path: string): string => {
    mkdirSync(dirname(join(rootfs, path)), { recursive: true });
    return join(rootfs, path);
  };
  return {
    revision: JSON.stringify({ files, links, setuid }),
    base: (rootfs) => {
      for (const [path, text] of Object.entries({ ...USERS, ...files })) writeFileSync(within(rootfs, path), text);
      for (const [path, target] of Object.entries(links)) symlinkSync(target, within(rootfs, path));
      for (const [path, source] of Object.entries(setuid)) {
        copyFileSync(source, within(rootfs, path));
        chmodSync(within(rootfs, path), 0o4755);
      }
    },
  };
}

/** The certificate with which `agnhost porter` serves HTTPS, as its image has it: from the module's source. */
function porterFiles(): Readonly<Record<string, string>> {
  const folder = resolve(import.meta.dirname, "../../tools/node");
  const module = execFileSync("go", ["list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes"], {
    cwd: folder,
    encoding: "utf8",
  }).trim();
  const read = (name: string): string => readFileSync(join(module, "test/images/agnhost/porter", name), "utf8");
  return Object.fromEntries(["localhost.crt", "localhost.key"].map((name) => [name, read(name)]));
}

/** `programs` has agnhost and nnp, `served` etcd and sample-apiserver. */
export function conformanceRecipes(programs: string, served: string): readonly ImageRecipe[] {
  const agnhost = {
    files: { agnhost: join(programs, "agnhost") },
    busybox: true as const,
    entrypoint: ["/agnhost"],
  };
  const httpd = ["2.4.38-4", "2.4.39-4"].map((tag): ImageRecipe => {
    return {
      name: `${REGISTRY}/httpd:${tag}`,
      packages: [...SHELL, ...APACHE],
      busybox: true,
      ...baseOf({
        files: { "usr/local/apache2/conf/httpd.conf": HTTPD_CONF, "usr/local/apache2/htdocs/index.html": WORKS },
      }),
      entrypoint: [],
      cmd: ["/usr/sbin/apache2", "-D", "FOREGROUND", "-f", "/usr/local/apache2/conf/httpd.conf"],
    };
  });
  const nginx = ["1.14-4", "1.15-4"].map((tag): ImageRecipe => {
    return {
      name: `${REGISTRY}/nginx:${tag}`,
      packages: [...SHELL, ...NGINX],
      busybox: true,
      ...baseOf({ files: { "etc/nginx/e2e.conf": NGINX_CONF, "usr/share/nginx/html/index.html": WORKS } }),
      entrypoint: [],
      cmd: ["/usr/sbin/nginx", "-c", "/etc/nginx/e2e.conf"],
    };
  });
  return [
    {
      name: `${REGISTRY}/agnhost:2.56`,
      packages: [...SHELL, ...DIG, ...CURL, "netcat-openbsd"],
      ...agnhost,
      ...baseOf({
        files: { "uploads/.keep": "", ...porterFiles() },
        links: { "agnhost-2": "agnhost", "bin/nc": "nc.openbsd" },
      }),
      cmd: ["pause"],
    },
    {
      name: `${REGISTRY}/nautilus:1.7`,
      packages: SHELL,
      ...agnhost,
      ...baseOf({ files: { "data.json": '{"image": "nautilus.jpg"}\n', "nautilus.jpg": "" } }),
      cmd: ["test-webserver"],
    },
    {
      name: `${REGISTRY}/busybox:1.37.0-1`,
      // The shell of Debian's busybox drops variables of the environment such as "data-1", which specs print by "sh";
      // one that names /bin/sh expects busybox's own words.
      packages: [...SHELL, "bash-static"],
      busybox: true,
      ...baseOf({ links: { "usr/bin/sh": "../../bin/bash-static" } }),
      entrypoint: [],
      cmd: ["sh"],
    },
    {
      name: `${REGISTRY}/jessie-dnsutils:1.7`,
      packages: [...SHELL, ...DIG],
      busybox: true,
      ...baseOf({}),
      entrypoint: [],
    },
    {
      name: `${REGISTRY}/nonewprivs:1.3`,
      packages: SHELL,
      busybox: true,
      ...baseOf({ setuid: { "usr/bin/nnp": join(programs, "nnp") } }),
      entrypoint: [],
      cmd: ["nnp"],
    },
    {
      name: `${REGISTRY}/sample-apiserver:1.29.2`,
      packages: [],
      files: { "sample-apiserver": join(served, "sample-apiserver") },
      entrypoint: ["/sample-apiserver"],
    },
    {
      name: "registry.k8s.io/etcd:3.6.4-0",
      packages: SHELL,
      busybox: true,
      files: { "usr/local/bin/etcd": join(served, "etcd") },
      entrypoint: [],
      cmd: ["/usr/local/bin/etcd"],
    },
    {
      name: "registry.k8s.io/pause:3.10.1",
      packages: ["tini", "busybox-static"],
      entrypoint: ["/usr/bin/tini-static", "--", "/bin/busybox", "sleep", "infinity"],
    },
    ...httpd,
    ...nginx,
  ];
}
