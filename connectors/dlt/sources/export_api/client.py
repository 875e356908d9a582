"""Requests to the service."""

import json
import re
import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import unquote

import requests
from requests.exceptions import ChunkedEncodingError, ContentDecodingError

T = TypeVar("T")
USER_AGENT = "export-api-dlt/1.0.0"
MOST_REQUESTS = 10
# In seconds. A service that asks for more than MOST_WAIT is not waited for.
LONGEST_WAIT, MOST_WAIT = 12, 300
# A page of days has about 4 MB, and a list of brands some more.
MOST_BYTES = 64 * 2**20


class ExportApiError(Exception):
    """A setting is wrong, or a request failed. The message does not contain the key."""


class Client:
    """Requests the service at `base_url`. Raises `ExportApiError` for an address or a key that cannot be right."""

    def __init__(self, base_url: str, api_key: str) -> None:
        root, key = base_url.strip().rstrip("/").removesuffix("/api/export/v1").rstrip("/"), api_key.strip()
        if not re.fullmatch(r"(?ai)https?://[\w.:\[\]-]+(/[\w./~%-]+)?", root):
            raise ExportApiError("Set base_url to an address such as https://api.example.com.")
        if not re.fullmatch("[!-~]+", key):
            raise ExportApiError("Set api_key to your API key, without other characters.")
        self.url = f"{root}/api/export/v1"
        self.key = re.compile(re.escape(key), re.IGNORECASE)
        # The rate limit counts by the key in Authorization, or else by address and User-Agent.
        headers = {"X-API-Key": key, "Authorization": f"Bearer {key}", "User-Agent": USER_AGENT}
        self.session = requests.Session()
        # Added by a function, since requests would replace Authorization by a password of ~/.netrc.
        self.session.auth = lambda request: request.headers.update(headers) or request

    def get(self, path: str, parse: Callable[[Any], T], **parameters: str | None) -> T:
        """Returns what `parse` reads from the JSON of a response. Sends the request at most 10 times.

        Raises `ExportApiError` with the message of the service.
        """
        problem, wait = "", 0.0
        for attempt in range(MOST_REQUESTS):
            if problem:
                print(f"{problem} Next try in {wait:.0f} s.", file=sys.stderr)
            time.sleep(wait)
            wait = min(2**attempt, LONGEST_WAIT)
            try:
                status, retry_after, reason, body = self.send(path, parameters)
            except (requests.ConnectionError, requests.Timeout, ChunkedEncodingError, ContentDecodingError) as error:
                problem = self.clean(str(error))
                if "CERTIFICATE_VERIFY_FAILED" in problem:
                    problem += " Set REQUESTS_CA_BUNDLE to the file of your network's certificate authority."
                    break
                continue
            problem = "A response is incomplete. Run again."
            if status == 200:
                try:
                    return parse(body)
                except (LookupError, TypeError):
                    pass
            else:
                sentence = body.get("error", reason) if isinstance(body, dict) else reason
                problem = self.clean(f"The service responded {status}: {sentence}")
                if status != 429 and status < 500:
                    break
            if retry_after.isdecimal():
                wait = float(retry_after)
            elif status == 429:
                wait = LONGEST_WAIT
            if wait > MOST_WAIT:
                problem += f" It asks to wait {wait:.0f} s."
                break
        raise ExportApiError(problem)

    def send(self, path: str, parameters: dict[str, str | None]) -> tuple[int, str, str, Any]:
        """Returns status, `Retry-After`, reason and JSON of a response. The JSON is None when the body has none."""
        options = {"params": parameters, "timeout": 60, "stream": True, "allow_redirects": False}
        with self.session.get(f"{self.url}/{path}", **options) as response:
            text = bytearray()
            for chunk in response.iter_content(2**16):
                text += chunk
                if len(text) > MOST_BYTES:
                    raise ExportApiError("A response is more than a page. Check base_url.")
            try:
                body = json.loads(text)
            except ValueError:
                body = None
            return response.status_code, response.headers.get("Retry-After", ""), response.reason, body

    def clean(self, text: str) -> str:
        """Returns a text that can be printed: gateways repeat the key, and send what a terminal interprets."""
        return re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", self.key.sub("<API key>", unquote(text)))[:1000]
