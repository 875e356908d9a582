"""Requests to the service."""

import re
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from dlt.sources.helpers import requests
from dlt.sources.helpers.rest_client import RESTClient
from dlt.sources.helpers.rest_client.paginators import JSONResponseCursorPaginator
from requests import PreparedRequest
from requests.auth import AuthBase
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt

T = TypeVar("T")
USER_AGENT = "export-api-dlt/1.0.0"
LONGEST_WAIT = 12
# A service that asks for a longer wait is not waited for.
MOST_WAIT = 300
# The largest page has 4 MiB, and a list of brands some more.
MOST_BYTES = 64 * 2**20
# Of a window, or of a list of changes.
MOST_PAGES = 100_000


class SettingError(Exception):
    """A setting is wrong. The message does not show its value, which can be a key."""


class KeyAuth(AuthBase):
    """Sends the key, in `Authorization` too: the rate limit counts by that header, or else by address and User-Agent.

    With an object for it, dlt does not log the key, and requests sends no password of `~/.netrc`.
    """

    def __init__(self, api_key: str) -> None:
        self.headers = {"X-API-Key": api_key, "Authorization": f"Bearer {api_key}"}

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        request.headers.update(self.headers)
        return request


def make_client(base_url: str, api_key: str) -> RESTClient:
    """Returns a client of the service at `base_url`, the root of its host. It sends a request at most 10 times.

    Raises `SettingError` for an address or a key that cannot be right. dlt's own client waits after `Retry-After` no
    longer than between other requests.
    """
    root, key = base_url.strip().rstrip("/").removesuffix("/api/export/v1").rstrip("/"), api_key.strip()
    if not re.fullmatch(r"(?ai)https?://[\w.:\[\]-]+(/[\w./~%-]+)?", root):
        raise SettingError("Set base_url to an address such as https://api.example.com.")
    if not re.fullmatch("[!-~]+", key):
        raise SettingError("Set api_key to your API key, without other characters.")
    session = requests.Session(raise_for_status=False)
    retrying = Retrying(retry=retry_if_exception(is_temporary), wait=seconds, stop=stop_after_attempt(10), reraise=True)
    session.send = retrying.wraps(with_safe_errors(session.send, key))  # type: ignore[method-assign]
    return RESTClient(
        base_url=f"{root}/api/export/v1",
        headers={"User-Agent": USER_AGENT},
        auth=KeyAuth(key),
        paginator=JSONResponseCursorPaginator(cursor_path="pagination.nextCursor", cursor_param="cursor"),
        data_selector="data",
        session=session,
    )


def with_safe_errors(function: Callable[..., T], key: str) -> Callable[..., T]:
    """Returns a function whose errors can be printed: gateways repeat what was sent.

    Their messages are without the key in any case or percent-encoding, without control characters, and have at most
    1,000 characters.
    """
    pattern = re.compile(re.escape(key), re.IGNORECASE)

    @wraps(function)
    def safe(*args: Any, **options: Any) -> T:
        try:
            return function(*args, **options)
        except Exception as error:
            message = re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", pattern.sub("<API key>", unquote(str(error))))
            error.args = (message[:1000],)
            # A traceback would show the errors that caused it.
            raise error from None

    return safe


def is_temporary(error: BaseException) -> bool:
    """Returns whether to send a request again (docs/specification.md, Errors)."""
    if isinstance(error, requests.HTTPError):
        return error.response.status_code == 429 or error.response.status_code >= 500
    return isinstance(error, (requests.ConnectionError, requests.Timeout, requests.ChunkedEncodingError))


def seconds(state: RetryCallState) -> float:
    """Returns the seconds to wait before a request is sent again. Raises `RequestException` where no wait helps."""
    error = state.outcome and state.outcome.exception()
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        advice = "If your network has a certificate authority of its own, set REQUESTS_CA_BUNDLE to its file."
        raise requests.RequestException(f"{error} {advice}")
    response = getattr(error, "response", None)
    retry_after = "" if response is None else response.headers.get("Retry-After", "")
    if retry_after.isdecimal():
        wait = float(retry_after)
        if wait > MOST_WAIT:
            raise requests.RequestException(f"{error} It asks to wait {wait:.0f} s.", response=response)
        return wait
    is_limited = response is not None and response.status_code == 429
    return LONGEST_WAIT if is_limited else min(2 ** (state.attempt_number - 1), LONGEST_WAIT)


def read_pages(client: RESTClient, path: str, *hooks: Callable[..., Any], **params: Any) -> Iterator[Any]:
    """Yields the pages. Calls the hooks with each response. Raises `RequestException` when they do not end."""
    cursor = None
    options = {"params": params, "hooks": {"response": [*hooks, check]}, "allow_redirects": False}
    for number, page in enumerate(client.paginate(path, **options), 1):
        yield page
        # The request is that of the next page.
        previous, cursor = cursor, page.request.params["cursor"]
        if cursor is not None and (cursor == previous or number == MOST_PAGES):
            raise requests.RequestException(f"The pages of {path} do not end. Check base_url.", response=page.response)


def check(response: requests.Response, *args: Any, **kwargs: Any) -> None:
    """Raises `HTTPError` with the service's message unless the status is 200.

    Raises `ConnectionError`, which is retried, when the body is cut short or lacks a member.
    """
    body = bytearray()
    for chunk in response.iter_content(2**16):
        body += chunk
        if len(body) > MOST_BYTES:
            response.close()
            raise requests.RequestException("A response is more than a page. Check base_url.", response=response)
    response._content = bytes(body)
    if response.status_code == 200:
        try:
            members = response.json().keys()
        except (ValueError, AttributeError):
            members = set()
        is_paged = not urlsplit(response.url).path.endswith("/brands")
        if not members >= {"data", *(("pagination", "meta") if is_paged else ())}:
            raise requests.ConnectionError("A response is incomplete. Run again.", response=response)
        return
    try:
        sentence = response.json()["error"]
    except (ValueError, KeyError, TypeError):
        sentence = response.reason
    raise requests.HTTPError(f"The service responded {response.status_code}: {sentence}", response=response)


def digest_of_brands(response: requests.Response) -> str:
    """Returns what identifies the brands that the key reads."""
    digest = response.headers.get("X-Brands-Digest")
    if digest is None:
        message = "A response has no X-Brands-Digest. Check what is between the service and this program."
        raise requests.HTTPError(message, response=response)
    return digest
