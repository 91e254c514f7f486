"""Where backups are: a folder of a mounted volume, or a bucket of an object store that speaks S3 (Swift's s3api does).

    BACKUP_TARGET   file:///backup, or s3+https://HOST:PORT/BUCKET/PREFIX with BACKUP_REGION
    /run/target     accessKey and secretKey of the bucket; ca.crt: its authority, if it is no public one
"""
import contextlib
import datetime
import hashlib
import hmac
import os
import ssl
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree

KEYS = os.environ.get("BACKUP_KEYS", "/run/target")
PART = 16 << 20


def digest_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        for block in iter(lambda: file.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


class Folder:
    def __init__(self, root):
        self.root = root

    def path(self, name):
        return os.path.join(self.root, *name.split("/"))

    @contextlib.contextmanager
    def writing(self, name):
        """Gives the path of a file to write. It has its name only once all of it is on the disk."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        part = path + ".part"
        yield part
        with open(part, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(part, path)

    @contextlib.contextmanager
    def reading(self, name):
        yield self.path(name)

    def exists(self, name):
        return os.path.isfile(self.path(name))

    def names(self, prefix):
        found = []
        for folder, _, files in os.walk(self.path(prefix.rstrip("/"))):
            found += [os.path.relpath(os.path.join(folder, file), self.root) for file in files]
        return sorted(found)

    def delete(self, name):
        path = self.path(name)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        with contextlib.suppress(OSError):
            os.rmdir(os.path.dirname(path))


class Bucket:
    """The calls of S3 that are needed, signed by Signature Version 4."""

    def __init__(self, url, region, access, secret, context=None):
        parts = urllib.parse.urlsplit(url)
        bucket, _, prefix = parts.path.strip("/").partition("/")
        self.base = f"{parts.scheme}://{parts.netloc}"
        self.host = parts.netloc
        self.bucket = bucket
        self.prefix = prefix + "/" if prefix else ""
        self.region = region
        self.access = access
        self.secret = secret
        self.context = context

    def send(self, method, key=None, query=None, body=b""):
        path = "/" + urllib.parse.quote(self.bucket + ("" if key is None else "/" + self.prefix + key), safe="/-_.~")
        pairs = sorted((query or {}).items())
        search = "&".join(f"{urllib.parse.quote(k, safe='-_.~')}={urllib.parse.quote(v, safe='-_.~')}" for k, v in pairs)
        now = datetime.datetime.now(datetime.timezone.utc)
        content = hashlib.sha256(body).hexdigest()
        headers = {"host": self.host, "x-amz-content-sha256": content, "x-amz-date": now.strftime("%Y%m%dT%H%M%SZ")}
        headers["authorization"] = self.signature(method, path, search, headers, now)
        del headers["host"]
        url = self.base + path + ("?" + search if search else "")
        request = urllib.request.Request(url, data=body if method in ("PUT", "POST") else None, method=method, headers=headers)
        return urllib.request.urlopen(request, timeout=300, context=self.context)

    def signature(self, method, path, search, headers, now):
        signed = ";".join(sorted(headers))
        lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
        canonical = "\n".join([method, path, search, lines, signed, headers["x-amz-content-sha256"]])
        day = now.strftime("%Y%m%d")
        scope = f"{day}/{self.region}/s3/aws4_request"
        text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hashlib.sha256(canonical.encode()).hexdigest()])
        key = ("AWS4" + self.secret).encode()
        for part in (day, self.region, "s3", "aws4_request"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        value = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        return f"AWS4-HMAC-SHA256 Credential={self.access}/{scope}, SignedHeaders={signed}, Signature={value}"

    @contextlib.contextmanager
    def writing(self, name):
        """Gives the path of a file to write. The object exists only once all of its parts do."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "object")
            yield path
            self.upload(name, path)

    def upload(self, name, path):
        if os.path.getsize(path) <= PART:
            with open(path, "rb") as file, self.send("PUT", name, body=file.read()):
                return
        with self.send("POST", name, {"uploads": ""}) as response:
            upload = text_of(response.read(), "UploadId")
        parts = []
        try:
            with open(path, "rb") as file:
                for number, block in enumerate(iter(lambda: file.read(PART), b""), 1):
                    with self.send("PUT", name, {"partNumber": str(number), "uploadId": upload}, block) as response:
                        parts.append((number, response.headers["ETag"]))
            listed = "".join(f"<Part><PartNumber>{n}</PartNumber><ETag>{tag}</ETag></Part>" for n, tag in parts)
            body = f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()
            # A store that fails to join the parts may say so in a response with status 200.
            with self.send("POST", name, {"uploadId": upload}, body) as response:
                answer = response.read()
            if b"<Error>" in answer:
                raise RuntimeError(f"the object store did not join the parts of {name}: {text_of(answer, 'Code')}")
        except BaseException:
            with contextlib.suppress(Exception):
                self.send("DELETE", name, {"uploadId": upload}).close()
            raise

    @contextlib.contextmanager
    def reading(self, name):
        with tempfile.NamedTemporaryFile() as file:
            with self.send("GET", name) as response:
                for block in iter(lambda: response.read(1 << 20), b""):
                    file.write(block)
            file.flush()
            yield file.name

    def exists(self, name):
        try:
            self.send("HEAD", name).close()
            return True
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return False
            raise

    def names(self, prefix):
        found, token = [], None
        while True:
            query = {"list-type": "2", "prefix": self.prefix + prefix}
            if token:
                query["continuation-token"] = token
            with self.send("GET", None, query) as response:
                root = xml.etree.ElementTree.fromstring(response.read())
            found += [each.text[len(self.prefix):] for each in root.iter() if each.tag.endswith("}Key") or each.tag == "Key"]
            token = next((each.text for each in root.iter() if each.tag.endswith("NextContinuationToken")), None)
            if not token:
                return sorted(found)

    def delete(self, name):
        self.send("DELETE", name).close()


def text_of(xml_text, name):
    root = xml.etree.ElementTree.fromstring(xml_text)
    return next((each.text or "" for each in root.iter() if each.tag.split("}")[-1] == name), "")


def secret(name):
    with open(os.path.join(KEYS, name), encoding="utf-8") as file:
        return file.read().strip()


def open_target():
    url = os.environ["BACKUP_TARGET"]
    if url.startswith("file://"):
        return Folder(url[len("file://"):])
    authority = os.path.join(KEYS, "ca.crt")
    context = ssl.create_default_context(cafile=authority) if os.path.exists(authority) else None
    return Bucket(url[len("s3+"):], os.environ.get("BACKUP_REGION", "us-east-1"), secret("accessKey"), secret("secretKey"), context)


def fail(message, code=1):
    """Ends with a message that the status of the deployment has, too."""
    report(message)
    print(message, file=sys.stderr)
    sys.exit(code)


def report(text):
    with contextlib.suppress(OSError), open(os.environ.get("TERMINATION_LOG", "/dev/termination-log"), "w", encoding="utf-8") as file:
        file.write(text[:4000])
