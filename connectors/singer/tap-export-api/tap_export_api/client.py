"""Requests to the Export API."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Mapping
from decimal import Decimal
from functools import wraps
from http import HTTPStatus
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from requests.exceptions import JSONDecodeError
from singer_sdk import RESTStream
from singer_sdk.authenticators import APIKeyAuthenticator
from singer_sdk.exceptions import FatalAPIError, RetriableAPIError

if TYPE_CHECKING:
    from requests import PreparedRequest, Response, Session

LONGEST_WAIT = 12
# A service that asks for a longer wait is not waited for.
MOST_WAIT = 300
# The largest page has 4 MiB, and a list of brands some more.
MOST_BYTES = 64 * 2**20
# Of a window, or of a list of changes.
MOST_PAGES = 100_000


def root_of(base_url: str) -> str:
    """Returns an address without what people paste around it."""
    return base_url.strip().rstrip("/").removesuffix("/api/export/v1").rstrip("/")


def wrong_settings(config: Mapping[str, Any]) -> Iterator[str]:
    """Yields a sentence for each setting that cannot be right. None shows a value, which can be a key."""
    if not re.fullmatch(r"(?ai)https?://[\w.:\[\]-]+(/[\w./~%-]+)?", root_of(str(config.get("base_url")))):
        yield "Set base_url to an address such as https://api.example.com."
    if not re.fullmatch("[!-~]+", str(config.get("api_key")).strip()):
        yield "Set api_key to your API key, without other characters."


def with_safe_errors(function: Callable[..., Any], key: str) -> Callable[..., Any]:
    """Returns a function whose errors can be printed: gateways repeat what was sent.

    Their messages are without the key in any case or percent-encoding, without control characters, and have at most
    1,000 characters.
    """
    pattern = re.compile(re.escape(key), re.IGNORECASE)

    @wraps(function)
    def safe(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except Exception as error:
            message = re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", pattern.sub("<API key>", unquote(str(error))))
            error.args = (message[:1000],)
            # A traceback would show the errors that caused it.
            raise error from None

    return safe


def read_body(response: Response, **_: Any) -> None:
    """Reads the body before requests does, which reads one without end into the memory."""
    body = bytearray()
    for chunk in response.iter_content(2**16):
        body += chunk
        if len(body) > MOST_BYTES:
            response.close()
            msg = "A response is more than a page. Check base_url."
            raise FatalAPIError(msg)
    response._content = bytes(body)


class ExportStream(RESTStream):
    """A stream that reads pages. Sends a request at most 10 times (docs/specification.md, Errors)."""

    timeout = 60
    allow_redirects = False

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

    @property
    def requests_session(self) -> Session:
        session = super().requests_session
        # The SDK sends requests without the settings of the environment, such as REQUESTS_CA_BUNDLE.
        session.verify = session.merge_environment_settings(self.url_base, {}, None, None, None)["verify"]
        return session

    def backoff_wait_generator(self) -> Generator[float, Any, None]:
        """Yields the seconds before each retry."""
        error = yield 0
        for tries in count():
            if "CERTIFICATE_VERIFY_FAILED" in str(error):
                advice = "If your network has a certificate authority of its own, set REQUESTS_CA_BUNDLE to its file."
                msg = f"{error} {advice}"
                raise FatalAPIError(msg)
            response = getattr(error, "response", None)
            retry_after = "" if response is None else response.headers.get("Retry-After", "")
            if retry_after.isdecimal():
                wait = float(retry_after)
                if wait > MOST_WAIT:
                    msg = f"{error} It asks to wait {wait:.0f} s."
                    raise FatalAPIError(msg)
                error = yield wait
            elif response is not None and response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
                error = yield LONGEST_WAIT
            else:
                error = yield min(2**tries, LONGEST_WAIT)

    def backoff_jitter(self, value: float) -> float:
        """Returns the seconds unchanged: after `Retry-After`, the service lets the request through."""
        return value

    def backoff_handler(self, details: Any) -> None:
        """Logs nothing: the SDK logs each wait before, with its error, and would log here what the response says."""

    def backoff_max_tries(self) -> int:
        return 10

    def validate_response(self, response: Response) -> None:
        super().validate_response(response)
        if response.is_redirect:
            msg = f"{self.config['base_url']} redirects. Check base_url."
            raise FatalAPIError(msg)

    def read_page(self, request: PreparedRequest, context: Any) -> Any:
        """Returns the JSON of a response. A length is not always declared, so only the JSON shows a body cut short."""
        response = self._request(request, context)
        try:
            page = response.json(parse_float=Decimal)
            members = page.keys()
        except (JSONDecodeError, AttributeError):
            members = set()
        if not members >= {"data", *(() if self.path == "/brands" else ("pagination", "meta"))}:
            msg = f"The response of {self.path} is incomplete."
            raise RetriableAPIError(msg, response)
        return {**page, "brands_digest": response.headers.get("X-Brands-Digest")}

    def pages(self, **params: str | None) -> Iterator[dict]:
        """Yields the JSON of each page. Raises `FatalAPIError` with the service's message for 4xx but 429.

        `brands_digest` of a page identifies the brands that the key reads, where the response is about all of them.
        """
        send = self.request_decorator(with_safe_errors(self.read_page, self.config["api_key"].strip()))
        for _ in range(MOST_PAGES):
            request = self.build_prepared_request("GET", f"{self.url_base}{self.path}", params=params)
            request.register_hook("response", read_body)
            page: Any = send(request, None)
            yield page
            previous, params["cursor"] = params.get("cursor"), page.get("pagination", {}).get("nextCursor")
            if params["cursor"] is None:
                return
            if params["cursor"] == previous:
                break
        msg = f"The pages of {self.path} do not end. Check base_url."
        raise FatalAPIError(msg)
