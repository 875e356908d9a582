"""Requests to the Export API."""

from __future__ import annotations

import json
import re
import time
from typing import Any
from urllib.parse import unquote

from requests import RequestException, Response
from singer_sdk import RESTStream
from singer_sdk.authenticators import APIKeyAuthenticator
from singer_sdk.exceptions import FatalAPIError

# A page has about 4 MB.
MOST_BYTES = 64 * 2**20


def root_of(base_url: str) -> str:
    """Returns an address without what people paste around it."""
    return base_url.strip().rstrip("/").removesuffix("/api/export/v1").rstrip("/")


class ExportStream(RESTStream):
    """A stream that reads an endpoint. Retries as *Errors* of docs/specification.md says."""

    @property
    def url_base(self) -> str:
        return f"{root_of(self.config['base_url'])}/api/export/v1"

    @property
    def authenticator(self) -> APIKeyAuthenticator:
        key = self.config["api_key"].strip()
        authenticator = APIKeyAuthenticator(key="X-API-Key", value=key)
        # The rate limit counts by this header, or else by address and User-Agent.
        authenticator.auth_headers["Authorization"] = f"Bearer {key}"
        return authenticator

    def read(self, page: Any) -> Any:
        """Returns what the stream needs of a page. Raises `LookupError` or `TypeError` when members are missing."""
        raise NotImplementedError

    def fetch(self, **params: str | None) -> Any:
        """Reads a page. Sends the request at most 10 times. Raises `FatalAPIError` with the service's message."""
        problem, wait = "", 0
        for tries in range(10):
            if problem:
                self.logger.warning("%s Next try in %d s.", self.failure(problem), wait)
                time.sleep(wait)
            wait = min(2**tries, 12)
            try:
                with self.requests_session.get(
                    f"{self.url_base}{self.path}",
                    params=params,
                    headers={"User-Agent": self.user_agent},
                    auth=self.authenticator,
                    timeout=60,
                    # A redirect would send the key to another address.
                    allow_redirects=False,
                    stream=True,
                ) as response:
                    body = self.body_of(response)
                status = response.status_code
                if status < 300:
                    return self.read(json.loads(body))
                problem = f"{status}: {'The service redirects. Check base_url.' if status < 400 else message_of(body)}"
                if status != 429 and status < 500:
                    break
                retry_after = response.headers.get("Retry-After", "")
                wait = int(retry_after) if retry_after.isdecimal() else 12 if status == 429 else wait
                if wait > 300:
                    problem += f" The service asks to wait {wait} s."
                    break
            except RequestException as error:
                problem = f"{error!r}."
                if "CERTIFICATE_VERIFY_FAILED" in problem:
                    problem += " Set REQUESTS_CA_BUNDLE to the file of your network's certificate authority."
                    break
            except (ValueError, LookupError, TypeError):
                problem = "The response is not complete JSON."
        raise self.failure(problem)

    def body_of(self, response: Response) -> bytes:
        body = bytearray()
        for chunk in response.iter_content(2**16):
            body += chunk
            if len(body) > MOST_BYTES:
                raise self.failure("A response is more than a page. Check base_url.")
        return bytes(body)

    def failure(self, problem: str) -> FatalAPIError:
        """Returns an error that can be printed: gateways repeat the key, and send what a terminal interprets."""
        key = re.escape(self.config["api_key"].strip())
        text = re.sub(key, "<API key>", unquote(problem), flags=re.IGNORECASE)
        return FatalAPIError(f"{self.path}: " + re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", text)[:1000])


def message_of(body: bytes) -> str:
    """Returns the service's message, or what a gateway answered."""
    try:
        return str(json.loads(body)["error"])
    except (ValueError, LookupError, TypeError):
        return body.decode(errors="replace")
